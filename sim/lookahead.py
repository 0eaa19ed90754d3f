"""Features of placing the next operator on each device, for many placements at once.

A constructive placer needs, for each operator in turn, the effect of placing it on each device.
Problems (a graph on a cluster at a source rate) are concatenated in a `LookaheadBatch`, so that one
call handles a whole batch of partial placements. Utilisations are divided by the problem's
`reference`, a lower bound on the largest utilisation of any placement, so that they are comparable
between problems of any size and source rate: 1 is perfect balance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.closed_form.bottleneck import lowest_utilisation
from sim.flow import NONE, Floats, Flow, Ints
from sim.jit import kernel
from sim.links import ends_of, seconds_on, uplinks_of
from sim.messages import Copies, Messages, Net, charge, no_messages
from sim.threads import of_usable_cores
from sim.work import class_work

Bools = NDArray[np.bool_]
Single = NDArray[np.float32]

CANDIDATE_FEATURES = (
    "own",  # utilisation that the operator's CPU work adds
    "now",  # utilisation of the device without the operator
    "then",  # utilisation of the device with the operator, overheads included
    "above mean",  # `then` minus the mean of all devices, with the operator's work spread over all
    "above least",  # `now` minus that of the least used device
    "highest",  # largest utilisation among the devices and links that the choice loads
    "link",  # largest utilisation among the links that the choice loads
    "worst",  # largest utilisation so far
    "rise",  # increase of `worst` by the choice
    "local",  # traffic to operators on this device, as utilisation of an average link
    "heaviest local",  # the heaviest stream of `local`
    "crossing",  # traffic to operators on other devices
    "ahead",  # traffic to operators not placed yet
    "open",  # traffic between the device's operators and those not placed yet
    "open then",  # `open` after placing the operator here
    "busiest",  # largest utilisation of the device's links so far
    "capacity",  # capacity of the device relative to the mean
    "bandwidth",  # mean seconds per bit of the device's links over the mean of all links
    "empty",  # 1 if no operator is on the device
    "crowd",  # share of the placed operators that are on the device
    "last",  # 1 if the previous operator in the order is on the device
    "left",  # CPU work of operators not placed yet over the total capacity
    "placed",  # share of operators placed
    "devices",  # 1 / number of devices
    "then, offered",  # `then` in units of the problem's `unit`, which shows overload
    "link, offered",  # `link` in the same units
    "worst device, offered",  # largest device utilisation with the operator placed, in these units
    "worst, offered",  # largest utilisation so far, in these units
)
F = len(CANDIDATE_FEATURES)
LINEAR = 2.0  # features up to this value are unchanged; larger ones grow logarithmically


class LookaheadBatch(NamedTuple):
    """P concatenated problems; operators and devices are numbered from 0 within each."""

    first_operator: Ints  # (P + 1,)
    first_device: Ints  # (P + 1,)
    first_link: Ints  # (P + 1,)
    nic: Bools  # (P,)
    reference: Floats  # (P,) utilisation
    unit: Floats  # (P,) utilisation that counts as 1 in the "…, offered" features
    work: Floats  # (V,) instructions/s
    operator_cores: Floats  # (V,) cores of its device that each operator can use
    first_end: Ints  # (V + 1,) index of each operator's first stream end
    other: Ints  # (2E,) the operator at the other end
    stream: Ints  # (2E,)
    outward: Bools  # (2E,) whether the stream is outgoing
    tuples: Floats  # (E,) tuples/s
    bits: Floats  # (E,) bits per tuple
    traffic: Floats  # (E,) utilisation of an average link
    capacity: Floats  # (D,) instructions/s
    cores: Floats  # (D,)
    kind: Ints  # (D,) devices of one kind are interchangeable
    bandwidth: Floats  # (D,) see `CANDIDATE_FEATURES`
    gap_s: Floats  # (L,)
    seconds_per_bit: Floats  # (L,)
    overhead_s: Floats  # (L,)
    uplinked: Bools  # (P,) whether groups of devices share links
    up: Ints  # (D,) the uplink of each device's group, numbered within the problem; -1 for none
    down: Ints  # (D,) the same for downlinks
    class_of: Ints  # (D,) class of each device
    first_work: NDArray[np.int64]  # (V,) index of the operator's work on class 0, -1 if not timed
    class_work: Floats  # instructions/s by class of devices; see `sim.work`
    egress: Bools  # (P,)
    multicast: Ints  # (P,)
    overhead_s_per_bit: Floats  # (D,)
    shared: Copies  # streams by producer, numbered over all problems; consumers within each
    leader: Ints  # (V,) an operator that stands for its colocation group, which shares a device
    first_allowed: NDArray[np.int64]  # (V,) index of the operator's mask of devices in `allowed`
    allowed: Bools
    needs: Floats  # (V, K) counts of each limit that operators take, such as bytes of memory
    room: Floats  # (D, K) counts of each limit that devices have


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


class LookaheadProblem(NamedTuple):
    """One problem of a batch."""

    flow: Flow
    unit: float  # utilisation that counts as 1 in the "…, offered" features
    kind: Ints  # (D,)
    leader: Ints  # (V,)
    row_of: Ints  # (V,) index of each operator's mask
    allowed: Bools  # (M, D)
    needs: Floats  # (V, K)
    room: Floats  # (D, K)


def collate(problems: Sequence[LookaheadProblem]) -> LookaheadBatch:
    """Concatenate problems into a batch."""
    flows = [problem.flow for problem in problems]
    operators = _starts([flow.operators for flow in flows])
    streams = _starts([len(flow.source) for flow in flows])
    masks = _starts([problem.allowed.size for problem in problems])
    ends = [flow.ends for flow in flows]
    reference = np.array([lowest_utilisation(flow) for flow in flows])
    tables = [class_work(flow) for flow in flows]
    first_ends = [first[:-1] + 2 * streams[i] for i, (first, _, _, _) in enumerate(ends)]
    return LookaheadBatch(
        first_operator=operators,
        first_device=_starts([flow.devices for flow in flows]),
        first_link=_starts([len(flow.gap_s) for flow in flows]),
        nic=np.array([flow.nic for flow in flows]),
        reference=reference,
        unit=np.array([problem.unit for problem in problems]),
        work=np.concatenate([flow.work for flow in flows]),
        operator_cores=np.concatenate([flow.operator_cores for flow in flows]),
        first_end=np.concatenate([*first_ends, 2 * streams[-1:]]).astype(np.int32),
        other=np.concatenate([other for _, other, _, _ in ends]),
        stream=np.concatenate(
            [stream + streams[i] for i, (_, _, stream, _) in enumerate(ends)]
        ).astype(np.int32),
        outward=np.concatenate([outward for _, _, _, outward in ends]),
        tuples=np.concatenate([flow.stream_tuples for flow in flows]),
        bits=np.concatenate([flow.bits for flow in flows]),
        traffic=np.concatenate([flow.traffic for flow in flows]),
        capacity=np.concatenate([flow.capacity for flow in flows]),
        cores=np.concatenate([flow.cores for flow in flows]),
        kind=np.concatenate([problem.kind for problem in problems]).astype(np.int32),
        bandwidth=np.concatenate([_bandwidth(flow) for flow in flows]),
        gap_s=np.concatenate([flow.gap_s for flow in flows]),
        seconds_per_bit=np.concatenate([flow.seconds_per_bit for flow in flows]),
        overhead_s=np.concatenate([flow.overhead_s for flow in flows]),
        uplinked=np.array([flow.uplinks > 0 for flow in flows]),
        up=np.concatenate([_or_none(flow.up, flow.devices) for flow in flows]),
        down=np.concatenate([_or_none(flow.down, flow.devices) for flow in flows]),
        class_of=np.concatenate([flow.class_of for flow in flows]),
        first_work=_first_work(tables),
        class_work=np.concatenate([table.ravel() for table in tables]),
        egress=np.array([flow.egress for flow in flows]),
        multicast=np.array([flow.multicast for flow in flows], dtype=np.int32),
        overhead_s_per_bit=np.concatenate([flow.overhead_s_per_bit for flow in flows]),
        shared=_shared(flows, streams),
        leader=np.concatenate([problem.leader for problem in problems]).astype(np.int32),
        first_allowed=np.concatenate(
            [
                masks[i] + problem.row_of.astype(np.int64) * problem.flow.devices
                for i, problem in enumerate(problems)
            ]
        ),
        allowed=np.concatenate([problem.allowed.ravel() for problem in problems]),
        needs=_padded([problem.needs for problem in problems]),
        room=_padded([problem.room for problem in problems]),
    )


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


@kernel
def candidate_features(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    operator: Ints,
    features: Single,
    offered: Bools,
) -> None:
    """Compute the features of every device for the next operator of the first R' placements.

    Parameters
    ----------
    operator
        (R',) the operator to place next, numbered within its problem.
    features
        (R', D, F), filled with `CANDIDATE_FEATURES`; 0 for devices that the problem lacks.
    offered
        (R', D), filled with whether the operator may go to each device. Among empty
        interchangeable devices, only the first is offered. At least one device is offered.
    """
    room = _room(problems, partial)
    for r in range(operator.shape[0]):
        _offer(problems, partial, r, operator[r], offered[r])
        _describe(problems, partial, room, r, operator[r], features[r])


@kernel
def _describe(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    room: Messages,
    r: int,
    v: int,
    features: Single,
) -> None:
    """Fill in the features, (D, F), of operator v in row r, ordered as `CANDIDATE_FEATURES`."""
    p = partial.problem[r]
    first, g = problems.first_device[p], problems.first_operator[p] + v
    devices = problems.first_device[p + 1] - first
    operators = problems.first_operator[p + 1] - problems.first_operator[p]
    scale, unit = 1.0 / problems.reference[p], 1.0 / problems.unit[p]
    capacity, least, used = 0.0, np.inf, 0.0
    for d in range(devices):
        capacity += problems.capacity[first + d]
        least = min(least, partial.device[r, d])
        used += partial.device[r, d]
    mean = used / devices + problems.work[g] / capacity
    left = (partial.left[r] - problems.work[g]) / capacity
    ahead = _traffic_ahead(problems, partial, r, v)
    features[:] = 0.0
    for d in range(devices):
        highest, highest_device, on_links, local, heaviest, crossing = _change_loads(
            problems, partial, room, r, v, d, 1.0
        )
        then = partial.device[r, d]
        _change_loads(problems, partial, room, r, v, d, -1.0)
        now = partial.device[r, d]
        out = features[d]
        out[0] = squashed(_work_on(problems, g, first + d) / problems.capacity[first + d] * scale)
        out[1] = squashed(now * scale)
        out[2] = squashed(then * scale)
        out[3] = squashed((then - mean) * scale)
        out[4] = squashed((now - least) * scale)
        out[5] = squashed(highest * scale)
        out[6] = squashed(on_links * scale)
        out[7] = squashed(partial.worst[r] * scale)
        out[8] = squashed(max(0.0, highest - partial.worst[r]) * scale)
        out[9] = squashed(local * scale)
        out[10] = squashed(heaviest * scale)
        out[11] = squashed(crossing * scale)
        out[12] = squashed(ahead * scale)
        out[13] = squashed(partial.open[r, d] * scale)
        out[14] = squashed((partial.open[r, d] - local + ahead) * scale)
        out[15] = squashed(partial.busiest[r, d] * scale)
        out[16] = squashed(problems.capacity[first + d] * devices / capacity)
        out[17] = squashed(problems.bandwidth[first + d])
        out[18] = 1.0 if partial.operators_on[r, d] == 0 else 0.0
        out[19] = partial.operators_on[r, d] / max(1, partial.placed[r])
        out[20] = 1.0 if partial.last[r] == d else 0.0
        out[21] = squashed(left * scale)
        out[22] = partial.placed[r] / operators
        out[23] = 1.0 / devices
        out[24] = squashed(then * unit)
        out[25] = squashed(on_links * unit)
        out[26] = squashed(max(highest_device, partial.worst_device[r]) * unit)
        out[27] = squashed(partial.worst[r] * unit)


@kernel
def place_next(
    problems: LookaheadBatch, partial: PartialPlacements, operator: Ints, chosen: Ints
) -> None:
    """Place the next operator, (R',), of the first R' placements on the chosen devices, (R',)."""
    room = _room(problems, partial)
    for r in range(operator.shape[0]):
        v, d = operator[r], chosen[r]
        p = partial.problem[r]
        ahead = _traffic_ahead(problems, partial, r, v)
        highest, highest_device, _, _, _, _ = _change_loads(problems, partial, room, r, v, d, 1.0)
        _close(problems, partial, r, v, d)
        partial.open[r, d] += ahead
        g = problems.first_operator[p] + v
        partial.on[r, v] = partial.together[r, problems.leader[g]] = d
        partial.worst[r] = max(partial.worst[r], highest)
        partial.worst_device[r] = max(partial.worst_device[r], highest_device)
        partial.left[r] -= problems.work[g]
        partial.used[r, d] += problems.needs[g]
        partial.operators_on[r, d] += 1
        partial.placed[r] += 1
        partial.last[r] = d


@kernel
def squashed(x: float) -> float:
    """Return x if |x| is at most `LINEAR`, otherwise a logarithmic continuation of it."""
    bent = x
    if x > LINEAR:
        bent = LINEAR + LINEAR * np.log(x / LINEAR)
    elif x < -LINEAR:
        bent = -LINEAR - LINEAR * np.log(-x / LINEAR)
    return bent


@kernel
def all_squashed(x: Floats) -> Floats:
    """Return `squashed` of every element of an array, (N,)."""
    made = np.empty_like(x)
    for i in range(x.shape[0]):
        made[i] = squashed(x[i])
    return made


@kernel
def _change_loads(
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
    device[b] += sign * _work_on(problems, o + v, first + b) / problems.capacity[first + b]
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
        tuples = problems.tuples[e]
        device[x] += sign * _overhead(problems, e, base + sends, first + x)
        device[y] += sign * _overhead(problems, e, base + receives, first + y)
        slot = sends // devices if problems.egress[p] else sends
        link[slot] += sign * tuples * seconds_on(problems, base + sends, e)
        on_links = max(on_links, link[slot])
        if problems.nic[p]:
            link[receives] += sign * tuples * seconds_on(problems, base + receives, e)
            on_links = max(on_links, link[receives])
        if problems.uplinked[p]:
            for shared in uplinks_of(problems, first + x, first + y):
                if shared >= 0:
                    link[shared] += sign * tuples * seconds_on(problems, base + shared, e)
                    on_links = max(on_links, link[shared])
        highest = max(highest, device[a])
    if problems.multicast[p] != NONE:
        others, on_links = _send(problems, partial, room, r, v, b, sign)
        highest = max(highest, others)
    own = of_usable_cores(
        _work_on(problems, o + v, first + b),
        problems.operator_cores[o + v],
        problems.cores[first + b],
        problems.capacity[first + b],
    )
    highest = max(highest, device[b], own)
    return max(highest, on_links), highest, on_links, local, heaviest, crossing


@kernel
def _room(problems: LookaheadBatch, partial: PartialPlacements) -> Messages:
    """Return scratch arrays for messages that several streams share; empty if there are none."""
    if problems.multicast.max() == NONE:
        return no_messages(0, 0)
    return no_messages(partial.device.shape[1], partial.link.shape[1])


@kernel
def _work_on(problems: LookaheadBatch, g: int, d: int) -> float:
    """Return the instructions/s of operator g of the batch on device d of the batch."""
    if problems.first_work[g] < 0:
        return float(problems.work[g])
    return float(problems.class_work[problems.first_work[g] + problems.class_of[d]])


@kernel
def _overhead(problems: LookaheadBatch, e: int, link: int, d: int) -> float:
    """Return the utilisation of device d by the messages of stream e, which pass a link of d."""
    each = problems.overhead_s[link] + problems.bits[e] * problems.overhead_s_per_bit[d]
    return float(problems.tuples[e] * each / problems.cores[d])


@kernel
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


@kernel
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


@kernel
def _traffic_ahead(problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int) -> float:
    """Return the traffic between operator v and operators not placed yet."""
    o = problems.first_operator[partial.problem[r]]
    ahead = 0.0
    for i in range(problems.first_end[o + v], problems.first_end[o + v + 1]):
        if partial.on[r, problems.other[i]] < 0:
            ahead += problems.traffic[problems.stream[i]]
    return ahead


@kernel
def _close(problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int, b: int) -> None:
    """Update the devices at the other ends of the streams of v, which is now on device b.

    These streams are no longer open, and the links they cross may be the busiest.
    """
    p = partial.problem[r]
    o, first = problems.first_operator[p], problems.first_device[p]
    devices = problems.first_device[p + 1] - first
    for i in range(problems.first_end[o + v], problems.first_end[o + v + 1]):
        a = partial.on[r, problems.other[i]]
        if a < 0:
            continue
        partial.open[r, a] = max(0.0, partial.open[r, a] - problems.traffic[problems.stream[i]])
        if a == b:
            continue
        x, y = (b, a) if problems.outward[i] else (a, b)
        sends, receives = ends_of(problems.nic[p], devices, x, y)
        link, busiest = partial.link[r], partial.busiest[r]
        if problems.egress[p]:
            busiest[x] = max(busiest[x], link[x])
        else:
            busiest[x] = max(busiest[x], link[sends])
            busiest[y] = max(busiest[y], link[receives])
        if problems.uplinked[p]:
            up, down = uplinks_of(problems, first + x, first + y)
            if up >= 0:
                busiest[x] = max(busiest[x], link[up])
            if down >= 0:
                busiest[y] = max(busiest[y], link[down])


@kernel
def _offer(
    problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int, offered: Bools
) -> None:
    """Fill in the devices, (D,), that operator v of row r may go to."""
    p = partial.problem[r]
    g, first = problems.first_operator[p] + v, problems.first_device[p]
    devices = problems.first_device[p + 1] - first
    offered[:] = False
    settled = partial.together[r, problems.leader[g]]
    if settled >= 0:
        offered[settled] = True
        return
    any_offered = False
    for d in range(devices):
        if not problems.allowed[problems.first_allowed[g] + d]:
            continue
        if not _has_room(problems, partial, r, g, d):
            continue
        if partial.operators_on[r, d] == 0 and _has_empty_equal(problems, partial, r, first, d):
            continue
        offered[d] = any_offered = True
    if not any_offered:  # no device has room; the placement is repaired later
        for d in range(devices):
            offered[d] = problems.allowed[problems.first_allowed[g] + d]


@kernel
def _has_room(problems: LookaheadBatch, partial: PartialPlacements, r: int, g: int, d: int) -> bool:
    """Return whether operator g of the batch fits on device d of row r's problem."""
    first = problems.first_device[partial.problem[r]]
    for k in range(problems.room.shape[1]):
        if partial.used[r, d, k] + problems.needs[g, k] > problems.room[first + d, k]:
            return False
    return True


@kernel
def _has_empty_equal(
    problems: LookaheadBatch, partial: PartialPlacements, r: int, first: int, d: int
) -> bool:
    """Return whether an earlier device of the same kind as d is empty."""
    for equal in range(d):
        if (
            problems.kind[first + equal] == problems.kind[first + d]
            and partial.operators_on[r, equal] == 0
        ):
            return True
    return False


def _starts(lengths: Sequence[int]) -> Ints:
    return np.cumsum([0, *lengths]).astype(np.int32)


def _padded(tables: Sequence[Floats]) -> Floats:
    """Return tables of different widths as one; added columns are 0, which exceeds no limit."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate(
        [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables]
    ).astype(np.float64)


def _first_work(tables: Sequence[Floats]) -> NDArray[np.int64]:
    """Return the index of each operator's row in flat tables, (V,); -1 where there is no column."""
    rows, start = [], 0
    for table in tables:
        count, classes = table.shape
        own = start + np.arange(count, dtype=np.int64) * classes
        rows.append(own if classes else np.full(count, -1, np.int64))
        start += table.size
    return np.concatenate(rows)


def _shared(flows: Sequence[Flow], first_stream: Ints) -> Copies:
    """Return the streams of several flows by producer; only those with multicast have any."""
    firsts, streams, start = [], [], 0
    for i, flow in enumerate(flows):
        own = flow.first_out[:-1] if len(flow.first_out) else np.zeros(flow.operators, np.int32)
        firsts.append(start + own)
        streams.append(first_stream[i] + flow.out_stream)
        start += len(flow.out_stream)
    return Copies(
        np.concatenate([*firsts, [start]]).astype(np.int32),
        np.concatenate(streams).astype(np.int32),
        np.concatenate([flow.target for flow in flows]),
        np.concatenate([flow.stream_tuples for flow in flows]),
        np.concatenate([flow.stream_bits for flow in flows]),
    )


def _or_none(links: Ints, devices: int) -> Ints:
    return links if len(links) else np.full(devices, -1, np.int32)


def _bandwidth(flow: Flow) -> Floats:
    """Return seconds per bit of each device's links over the mean of all, (D,); 1 if all are 0."""
    per_bit = flow.seconds_per_bit[: flow.own_links].reshape(-1, flow.devices)
    if flow.nic:
        own = per_bit.mean(axis=0)
    else:
        own = (per_bit.sum(axis=0) + per_bit.sum(axis=1) - 2 * np.diag(per_bit)) / (
            2 * max(1, flow.devices - 1)
        )
    mean = own.mean()
    return own / mean if mean > 0 else np.ones(flow.devices)
