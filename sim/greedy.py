"""Greedy placement: each operator goes where the largest utilisation is lowest."""

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import by_operator, read_only
from streamplace.sim.flow import NONE, Columns, Floats, Flow, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import cpu_s, ends_of, link_s, slot_of, uplinks_of
from streamplace.sim.messages import Copies, Messages, charge, copies_of, no_messages
from streamplace.sim.work import own_utilisation, work_on


def greedy(flow: Flow, allowed: NDArray[np.bool_], row_of: Ints, order: Ints | None = None) -> Ints:
    """Return one placement, (V,) device indices.

    Each operator goes to the allowed device for which the largest of the utilisations that the
    choice raises is lowest. Ties go to the smallest sum of the increases, then to the first device.
    A stream counts once both of its ends are placed.

    Parameters
    ----------
    allowed
        (M, D) masks of devices.
    row_of
        (V,) index of each operator's mask.
    order
        (V,) the operators in the order in which they are placed; by default, upstream operators
        first.
    """
    order = _by_last_input(flow) if order is None else order
    position = np.empty(flow.operators, np.int32)
    position[order] = np.arange(flow.operators, dtype=np.int32)
    later = order[np.maximum(position[flow.source], position[flow.target])]
    first, stream = by_operator(later, flow.operators)
    return _greedy(flow.columns, order, first, stream, read_only(allowed), row_of)


def _by_last_input(flow: Flow) -> Ints:
    """Return the operators by their last incoming stream, (V,), a topological order."""
    last = np.full(flow.operators, -1)
    last[flow.target] = np.arange(len(flow.target))
    return np.argsort(last, kind="stable").astype(np.int32)


@kernel
def least_loaded(
    on: Ints,
    order: NDArray[np.int64],
    work: Floats,
    allowed: NDArray[np.bool_],
    capacity: Floats,
    load: Floats,
) -> None:
    """Put units in order on the allowed device that is then the least loaded, in place.

    Parameters
    ----------
    on
        (U,) device of each unit; only those in `order` change.
    work
        (U,) instructions/s of each unit.
    allowed
        (U, D); each unit has at least one device.
    capacity, load
        (D,) instructions/s and utilisation of each device; `load` changes.
    """
    for u in order:
        best, lowest = -1, np.inf
        for d in range(capacity.shape[0]):
            after = load[d] + work[u] / capacity[d]
            if allowed[u, d] and (best < 0 or after < lowest):
                best, lowest = d, after
        on[u] = best
        load[best] = lowest


@kernel
def _greedy(
    flow: Columns,
    order: Ints,
    first: Ints,
    stream: Ints,
    allowed: NDArray[np.bool_],
    row_of: Ints,
) -> Ints:
    devices = flow.capacity.shape[0]
    device, link = np.zeros(devices), np.zeros(flow.gap_s.shape[0])
    placement = np.full(order.shape[0], -1, np.int32)
    copies, room = copies_of(flow), no_messages(devices, link.shape[0])
    for v in order:
        streams = stream[first[v] : first[v + 1]]  # those whose other end is placed
        best, lowest, least = -1, np.inf, np.inf
        for d in range(devices):
            if allowed[row_of[v], d]:
                highest, added = _raise(
                    flow, placement, v, d, streams, device, link, copies, room, 1.0
                )
                _raise(flow, placement, v, d, streams, device, link, copies, room, -1.0)
                # Most devices tie while little is placed; what is added in all then keeps operators
                # together.
                if highest < lowest or (highest == lowest and added < least):
                    best, lowest, least = d, highest, added
        _raise(flow, placement, v, best, streams, device, link, copies, room, 1.0)
        placement[v] = best
    return placement


@bare
def _raise(
    flow: Columns,
    placement: Ints,
    v: int,
    b: int,
    streams: Ints,
    device: Floats,
    link: Floats,
    copies: Copies,
    room: Messages,
    sign: float,
) -> tuple[float, float]:
    """Add operator v, which is not placed, to device b, or remove it (sign -1).

    `streams` are the streams of v whose other end is placed. Returns the largest utilisation of the
    resources that v loads, and the sum of what it adds.
    """
    own = work_on(flow, v, b) / flow.capacity[b]
    device[b] += sign * own
    highest, added = 0.0, own
    if flow.multicast != NONE:
        highest, more = _send(flow, placement, v, b, streams, device, link, copies, room, sign)
        return max(highest, device[b], own_utilisation(flow, v, b)), added + more
    for e in streams:
        a, c = placement[flow.source[e]], placement[flow.target[e]]
        if flow.source[e] == v:
            a = b
        else:
            c = b
        if a == c:
            continue
        tuples, bits = flow.stream_tuples[e], flow.stream_bits[e]
        sends, receives = ends_of(flow.nic, device.shape[0], a, c)
        sent = cpu_s(flow, sends, a, tuples, bits) / flow.cores[a]
        received = cpu_s(flow, receives, c, tuples, bits) / flow.cores[c]
        device[a] += sign * sent
        device[c] += sign * received
        crossing = tuples * link_s(flow, sends, 1.0, flow.bits[e])
        slot = slot_of(flow, device.shape[0], sends)
        link[slot] += sign * crossing
        added += sent + received + crossing
        highest = max(highest, device[a], device[c], link[slot])
        if flow.nic:
            crossing = tuples * link_s(flow, receives, 1.0, flow.bits[e])
            link[receives] += sign * crossing
            added += crossing
            highest = max(highest, link[receives])
        if flow.up.shape[0] > 0:
            for shared in uplinks_of(flow, a, c):
                if shared >= 0:
                    crossing = tuples * link_s(flow, shared, 1.0, flow.bits[e])
                    link[shared] += sign * crossing
                    added += crossing
                    highest = max(highest, link[shared])
    return max(highest, device[b], own_utilisation(flow, v, b)), added


@bare
def _send(
    flow: Columns,
    placement: Ints,
    v: int,
    b: int,
    streams: Ints,
    device: Floats,
    link: Floats,
    copies: Copies,
    room: Messages,
    sign: float,
) -> tuple[float, float]:
    """Add the change of messages to operator v on device b, or remove it (sign -1).

    Returns the largest utilisation among the resources of these messages, and the sum of what they
    add. Streams from one producer follow one another in `streams`.
    """
    highest, added, before = 0.0, 0.0, -1
    for e in streams:
        u = flow.source[e]
        if u == before:
            continue
        before = u
        for change in (-sign, sign):
            placement[v] = -1 if change == -sign else b
            if placement[u] < 0:  # v itself, which sends nothing before it is placed
                continue
            for k in range(charge(flow, copies, u, placement[u], placement, room)):
                r, amount = room.resource[k], change * room.amount[k]
                added += amount * sign
                if r < device.shape[0]:
                    device[r] += amount
                else:
                    link[r - device.shape[0]] += amount
        for k in range(charge(flow, copies, u, placement[u], placement, room)):
            r = room.resource[k]
            load = device[r] if r < device.shape[0] else link[r - device.shape[0]]
            highest = max(highest, load)
        placement[v] = -1
    return highest, added
