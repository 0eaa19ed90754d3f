"""Partial placements of a batch of problems, and the loads that one more operator changes."""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import NONE, Floats, Ints
from streamplace.sim.jit import bare, inner
from streamplace.sim.links import cpu_s, ends_of, link_s, uplinks_of
from streamplace.sim.lookahead_batch import LookaheadBatch
from streamplace.sim.messages import Messages, Net, charge, no_messages
from streamplace.sim.work import of_usable_cores


class PartialPlacements(NamedTuple):
    """R partial placements; arrays are padded to the largest problem."""

    problem: Ints  # (R,)
    on: Ints  # (R, V) device of each operator, -1 if not placed yet
    together: Ints  # (R, V) device of the group with this leader, -1 if none of it is placed
    device: Floats  # (R, D) utilisation
    link: Floats  # (R, L) utilisation
    busiest: Floats  # (R, D) largest utilisation of a device's links
    open: Floats  # (R, D) traffic to operators not placed yet
    operators_on: Ints  # (R, D) number of operators
    used: Floats  # (R, D, K) counts of each limit
    worst: Floats  # (R,) largest utilisation
    worst_device: Floats  # (R,) largest device utilisation
    left: Floats  # (R,) instructions/s not placed yet
    last: Ints  # (R,) the last chosen device, -1 at first
    placed: Ints  # (R,) number of operators placed


def nothing_placed(problems: LookaheadBatch, problem: Ints) -> PartialPlacements:
    """Return empty placements of the problems with these indices, (R,)."""
    operators, devices = np.diff(problems.first_operator), np.diff(problems.first_device)
    rows, columns = len(problem), int(devices.max())
    work = np.add.reduceat(problems.work, problems.first_operator[:-1])
    return PartialPlacements(
        problem=problem.astype(np.int32),
        on=np.full((rows, int(operators.max())), -1, np.int32),
        together=np.full((rows, int(operators.max())), -1, np.int32),
        device=np.zeros((rows, columns)),
        link=np.zeros((rows, int(np.diff(problems.first_link).max()))),
        busiest=np.zeros((rows, columns)),
        open=np.zeros((rows, columns)),
        operators_on=np.zeros((rows, columns), np.int32),
        used=np.zeros((rows, columns, problems.room.shape[1])),
        worst=np.zeros(rows),
        worst_device=np.zeros(rows),
        left=work[problem],
        last=np.full(rows, -1, np.int32),
        placed=np.zeros(rows, np.int32),
    )


@inner
def scratch_of(problems: LookaheadBatch, partial: PartialPlacements) -> Messages:
    """Return scratch arrays for messages that several streams share; empty if there are none."""
    if problems.multicast.max() == NONE:
        return no_messages(0, 0)
    return no_messages(partial.device.shape[1], partial.link.shape[1])


@bare
def change_loads(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    room: Messages,
    r: int,
    v: int,
    b: int,
    sign: float,
) -> tuple[float, float, float, float, float, float]:
    """Add operator v to device b, or remove it (sign -1).

    Returns the largest utilisation among the devices and links it loads, that among devices and the
    cores that v can use, that among links, the traffic within the device, its heaviest stream, and
    the traffic to other devices.
    """
    p = partial.problem[r]
    o, first, base = problems.first_operator[p], problems.first_device[p], problems.first_link[p]
    devices = problems.first_device[p + 1] - first
    device, link, on = partial.device[r], partial.link[r], partial.on[r]
    device[b] += sign * work_in_batch(problems, o + v, first + b) / problems.capacity[first + b]
    highest, on_links, local, heaviest, crossing = 0.0, 0.0, 0.0, 0.0, 0.0  # highest: devices only
    for i in range(problems.first_end[o + v], problems.first_end[o + v + 1]):
        a, e = on[problems.other[i]], problems.stream[i]
        if a < 0:
            continue
        if a == b:
            local += problems.traffic[e]
            heaviest = max(heaviest, problems.traffic[e])
            continue
        crossing += problems.traffic[e]
        if problems.multicast[p] != NONE:
            continue
        x, y = (b, a) if problems.outward[i] else (a, b)
        sends, receives = ends_of(problems.nic[p], devices, x, y)
        tuples, bits = problems.tuples[e], problems.bits[e]
        device[x] += sign * _overhead(problems, e, base + sends, first + x)
        device[y] += sign * _overhead(problems, e, base + receives, first + y)
        slot = sends // devices if problems.egress[p] else sends
        link[slot] += sign * tuples * link_s(problems, base + sends, 1.0, bits)
        on_links = max(on_links, link[slot])
        if problems.nic[p]:
            link[receives] += sign * tuples * link_s(problems, base + receives, 1.0, bits)
            on_links = max(on_links, link[receives])
        if problems.uplinked[p]:
            for shared in uplinks_of(problems, first + x, first + y):
                if shared >= 0:
                    link[shared] += sign * tuples * link_s(problems, base + shared, 1.0, bits)
                    on_links = max(on_links, link[shared])
        highest = max(highest, device[a])
    if problems.multicast[p] != NONE:
        others, on_links = _send(problems, partial, room, r, v, b, sign)
        highest = max(highest, others)
    own = of_usable_cores(
        work_in_batch(problems, o + v, first + b),
        problems.operator_cores[o + v],
        problems.cores[first + b],
        problems.capacity[first + b],
    )
    highest = max(highest, device[b], own)
    return max(highest, on_links), highest, on_links, local, heaviest, crossing


@bare
def _send(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    room: Messages,
    r: int,
    v: int,
    b: int,
    sign: float,
) -> tuple[float, float]:
    """Add the messages that operator v on device b changes, or remove that change (sign -1).

    Returns the largest utilisation of devices, and that of links, that these messages load. Streams
    between two operators follow one another among the ends of an operator.
    """
    p = partial.problem[r]
    o, on = problems.first_operator[p], partial.on[r]
    on_devices, on_links, before = 0.0, 0.0, -1
    for i in range(problems.first_end[o + v] - 1, problems.first_end[o + v + 1]):
        u = v  # the operator's own messages come first
        if i >= problems.first_end[o + v]:
            u = problems.other[i]
            if problems.outward[i] or u == before or on[u] < 0:
                continue
            before = u
        on[v] = -1
        if u != v:
            _add_messages(problems, partial, room, r, u, on[u], -sign)
        on[v] = b
        devices, links = _add_messages(problems, partial, room, r, u, on[u], sign)
        on_devices, on_links = max(on_devices, devices), max(on_links, links)
        on[v] = -1
    return on_devices, on_links


@bare
def _add_messages(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    room: Messages,
    r: int,
    u: int,
    a: int,
    sign: float,
) -> tuple[float, float]:
    """Add the loads of operator u's messages from device a, times a sign.

    Returns the largest utilisation of the devices, and of the links, that they load.
    """
    p = partial.problem[r]
    first, base = problems.first_device[p], problems.first_link[p]
    end, last = problems.first_device[p + 1], problems.first_link[p + 1]
    net = Net(
        problems.nic[p],
        problems.egress[p],
        problems.multicast[p],
        problems.cores[first:end],
        problems.gap_s[base:last],
        problems.seconds_per_bit[base:last],
        problems.overhead_s[base:last],
        problems.overhead_s_per_bit[first:end],
        problems.up[first:end],
        problems.down[first:end],
    )
    producer, devices = problems.first_operator[p] + u, end - first
    count = charge(net, problems.shared, producer, a, partial.on[r], room)
    for k in range(count):
        resource = room.resource[k]
        if resource < devices:
            partial.device[r, resource] += sign * room.amount[k]
        else:
            partial.link[r, resource - devices] += sign * room.amount[k]
    on_devices, on_links = 0.0, 0.0
    for k in range(count):
        resource = room.resource[k]
        if resource < devices:
            on_devices = max(on_devices, partial.device[r, resource])
        else:
            on_links = max(on_links, partial.link[r, resource - devices])
    return on_devices, on_links


@bare
def work_in_batch(problems: LookaheadBatch, g: int, d: int) -> float:
    """Return the instructions/s of operator g of the batch on device d of the batch."""
    if problems.first_work[g] < 0:
        return float(problems.work[g])
    return float(problems.class_work[problems.first_work[g] + problems.class_of[d]])


@bare
def _overhead(problems: LookaheadBatch, e: int, link: int, d: int) -> float:
    """Return the utilisation of device d by the messages of stream e, which pass a link of d."""
    each = cpu_s(problems, link, d, 1.0, problems.bits[e])
    return float(problems.tuples[e] * each / problems.cores[d])
