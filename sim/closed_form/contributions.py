"""What streams cause: shares of the load of a device or link, and sums of messages."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import ALL, NONE, Columns, Floats, Flow, Ints, checked
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import ends_of, link_s, load_ends, uplinks_of
from streamplace.sim.messages import charge, copies_of, list_messages, marks, no_messages


def loads_by_stream(flow: Flow, placement: NDArray[np.integer], resource: int) -> Floats:
    """Return the utilisation of one resource that each stream causes, (E,), at the offered rate.

    A message that serves several streams counts with the first of those to its receiver, or with
    the first of all where its sender pays once for all receivers.

    Parameters
    ----------
    placement
        (V,) device indices.
    resource
        A device d, or D + l for a link l.
    """
    loads = np.zeros(len(flow.source))
    row = checked(flow, placement)[0]
    if flow.multicast == NONE:
        _by_stream(row, flow.columns, resource, loads)
    else:
        _by_message(row, flow.columns, resource, loads)
    return loads


@kernel
def _by_stream(placement: Ints, flow: Columns, resource: int, loads: Floats) -> None:
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        if a != b:
            to = loads[e : e + 1], resource
            tuples, bits = flow.stream_tuples[e], flow.bits[e]
            load_ends(flow, a, b, tuples, 1.0, bits, _add_if_same, to)


@bare
def _add_if_same(to: tuple[Floats, int], r: int, amount: float) -> None:
    load, resource = to
    if r == resource:
        load[0] += amount


@kernel
def _by_message(placement: Ints, flow: Columns, resource: int, loads: Floats) -> None:
    devices, copies = flow.capacity.shape[0], copies_of(flow)
    room = no_messages(devices, flow.gap_s.shape[0])
    for v in range(placement.shape[0]):
        for k in range(charge(flow, copies, v, placement[v], placement, room)):
            if room.resource[k] == resource:
                loads[room.stream[k]] += room.amount[k]


class MessageSums(NamedTuple):
    """Tuples/s and bit/s of the messages of one placement, by link (with times of its own)."""

    tuples: Floats  # (L,) that occupy each link
    bits: Floats  # (L,)
    sent: Floats  # (L,) tuples/s that cost their sender the overhead of each link
    received: Floats  # (L,) tuples/s that cost their receiver the overhead of each link
    handled_bits: Floats  # (D,) bit/s that each device sends and receives


def message_sums(flow: Flow, placement: NDArray[np.integer]) -> MessageSums:
    """Return the sums of one placement's messages at the offered rate.

    A message for all receivers counts, at its sender, with the link that takes longest, and with
    the link with the most overhead.

    Parameters
    ----------
    placement
        (V,) device indices.
    """
    links, devices = len(flow.gap_s), flow.devices
    per_link = [np.zeros(links) for _ in range(4)]
    sums = MessageSums(per_link[0], per_link[1], per_link[2], per_link[3], np.zeros(devices))
    row = checked(flow, placement)[0]
    if flow.multicast == NONE:
        _add_streams(row, flow.columns, sums)
    else:
        _add_messages(row, flow.columns, sums)
    return sums


@kernel
def _add_streams(placement: Ints, flow: Columns, sums: MessageSums) -> None:
    devices = flow.capacity.shape[0]
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        if a == b:
            continue
        tuples, bits = flow.stream_tuples[e], flow.stream_bits[e]
        sends = ends_of(flow.nic, devices, a, b)[0]
        sums.sent[sends] += tuples
        sums.handled_bits[a] += bits
        _occupy(sums, sends, tuples, bits)
        _receive(flow, sums, a, b, tuples, bits)
        if flow.up.shape[0] > 0:
            for shared in uplinks_of(flow, a, b):
                if shared >= 0:
                    _occupy(sums, shared, tuples, bits)


@bare
def _receive(flow: Columns, sums: MessageSums, a: int, b: int, tuples: float, bits: float) -> None:
    receives = ends_of(flow.nic, flow.capacity.shape[0], a, b)[1]
    sums.received[receives] += tuples
    sums.handled_bits[b] += bits
    if flow.nic:
        _occupy(sums, receives, tuples, bits)


@bare
def _occupy(sums: MessageSums, link: int, tuples: float, bits: float) -> None:
    sums.tuples[link] += tuples
    sums.bits[link] += bits


@kernel
def _add_messages(placement: Ints, flow: Columns, sums: MessageSums) -> None:
    devices, copies = flow.capacity.shape[0], copies_of(flow)
    room = no_messages(devices, flow.gap_s.shape[0])
    together = flow.multicast == ALL
    for v in range(placement.shape[0]):
        a = placement[v]
        count = list_messages(copies, flow.multicast, v, a, placement, room)
        slowest, dearest = -1, -1
        for i in range(count):
            b, tuples, bits = room.to[i], room.tuples[i], room.bits[i]
            sends = ends_of(flow.nic, devices, a, b)[0]
            _receive(flow, sums, a, b, tuples, bits)
            if not together:
                sums.sent[sends] += tuples
                sums.handled_bits[a] += bits
            if not together or not (flow.nic or flow.egress):
                _occupy(sums, sends, tuples, bits)
            if dearest < 0 or flow.overhead_s[sends] > flow.overhead_s[dearest]:
                dearest = sends
            busy = link_s(flow, sends, tuples, bits)
            if slowest < 0 or busy > link_s(flow, slowest, tuples, bits):
                slowest = sends
            if flow.up.shape[0] > 0:
                for shared in uplinks_of(flow, a, b):
                    if shared >= 0 and marks(room, devices, shared, together):
                        _occupy(sums, shared, tuples, bits)
        if together and count > 0:
            sums.sent[dearest] += room.tuples[0]
            sums.handled_bits[a] += room.bits[0]
            if flow.nic or flow.egress:
                _occupy(sums, slowest, room.tuples[0], room.bits[0])
