"""The links that one placement's streams cross, and the seconds that its messages take on them."""

import numpy as np

from sim.flow import ALL, NONE, Columns, Ints
from sim.jit import bare, inner, kernel
from sim.links import Crossed, ends_of, seconds_on, slot_of, uplinks_of
from sim.messages import busy_share, copies_of, list_messages, marks, no_messages


@kernel
def nothing_crossed(flow: Columns) -> Crossed:
    """Return arrays for `number_links` to fill."""
    streams = flow.source.shape[0]
    shared = streams if flow.up.shape[0] > 0 else 0
    return Crossed(
        np.zeros(flow.gap_s.shape[0], np.int32),
        np.zeros(streams, np.int32),
        np.zeros(streams, np.int32),
        np.zeros(streams),
        np.zeros(streams),
        np.zeros(shared, np.int32),
        np.zeros(shared, np.int32),
        np.zeros(shared),
        np.zeros(shared),
    )


@kernel
def number_links(placement: Ints, flow: Columns, crossed: Crossed) -> int:
    """Fill in the links that a placement, (V,), crosses; return the number of links plus 1.

    With multicast, the seconds of a message are those of one of the streams that it serves.
    """
    count = number_streams(placement, flow, crossed)
    if flow.multicast != NONE:
        share_messages(placement, flow, crossed)
    return count


@bare
def number_streams(placement: Ints, flow: Columns, crossed: Crossed) -> int:
    """Do the same as `number_links`, with a message per stream."""
    crossed.number[:] = 0
    count = _number_own_links(placement, flow, crossed)
    if flow.up.shape[0] > 0:
        return _number_uplinks(placement, flow, crossed, count)
    return count


@bare
def _number_own_links(placement: Ints, flow: Columns, crossed: Crossed) -> int:
    """Fill in the links between two devices, or between a device and the network."""
    devices = flow.capacity.shape[0]
    sends, receives, send_s, receive_s = (
        crossed.sends,
        crossed.receives,
        crossed.send_s,
        crossed.receive_s,
    )
    count = 1
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        sends[e] = receives[e] = 0
        if a == b:
            continue
        first, second = ends_of(flow.nic, devices, a, b)
        sends[e], count = _numbered(crossed.number, slot_of(flow, devices, first), count)
        send_s[e] = seconds_on(flow, first, e)
        if flow.nic:
            receives[e], count = _numbered(crossed.number, second, count)
            receive_s[e] = seconds_on(flow, second, e)
    return count


@bare
def _number_uplinks(placement: Ints, flow: Columns, crossed: Crossed, count: int) -> int:
    """Fill in the links that groups of devices share, numbered from `count`."""
    for e in range(flow.source.shape[0]):
        up, down = uplinks_of(flow, placement[flow.source[e]], placement[flow.target[e]])
        crossed.ups[e] = crossed.downs[e] = 0
        if up >= 0:
            crossed.ups[e], count = _numbered(crossed.number, up, count)
            crossed.up_s[e] = seconds_on(flow, up, e)
        if down >= 0:
            crossed.downs[e], count = _numbered(crossed.number, down, count)
            crossed.down_s[e] = seconds_on(flow, down, e)
    return count


@bare
def _numbered(number: Ints, link: int, count: int) -> tuple[int, int]:
    """Return the number of a link, the next one if it has none, and the next number."""
    if number[link] == 0:
        number[link] = count
        count += 1
    return number[link], count


@inner
def share_messages(placement: Ints, flow: Columns, crossed: Crossed) -> None:
    """Set the seconds per tuple of streams that share messages, whose links are numbered.

    The first stream to a device has the seconds of the message to it, the others none. What a
    message for all costs its sender is with the first stream of all.
    """
    devices, copies = flow.capacity.shape[0], copies_of(flow)
    room = no_messages(devices, flow.gap_s.shape[0])
    for column in (crossed.send_s, crossed.receive_s, crossed.up_s, crossed.down_s):
        column[:] = 0.0
    for v in range(placement.shape[0]):
        a = placement[v]
        count = list_messages(copies, flow.multicast, v, a, placement, room)
        together = flow.multicast == ALL
        for i in range(count):
            b, e = room.to[i], room.first[i]
            tuples, bits = room.tuples[i], room.bits[i]
            first, second = ends_of(flow.nic, devices, a, b)
            busy = busy_share(flow, first, tuples, bits)
            if together and (flow.nic or flow.egress):
                leader = room.first[0]
                seconds = busy / flow.stream_tuples[leader]
                crossed.send_s[leader] = max(crossed.send_s[leader], seconds)
            else:
                crossed.send_s[e] = busy / flow.stream_tuples[e]
            if flow.nic:
                busy = busy_share(flow, second, tuples, bits)
                crossed.receive_s[e] = busy / flow.stream_tuples[e]
            if flow.up.shape[0] > 0:
                up, down = uplinks_of(flow, a, b)
                if up >= 0 and marks(room, devices, up, together):
                    crossed.up_s[e] = busy_share(flow, up, tuples, bits) / flow.stream_tuples[e]
                if down >= 0 and marks(room, devices, down, together):
                    busy = busy_share(flow, down, tuples, bits)
                    crossed.down_s[e] = busy / flow.stream_tuples[e]
