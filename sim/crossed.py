"""The links that one placement's streams cross, and the seconds that its messages take on them."""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import ALL, NONE, Columns, Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.links import ends_of, link_s, slot_of, uplinks_of
from streamplace.sim.messages import copies_of, list_messages, marks, no_messages

# Links that a stream may pass: the sender's, uplink, downlink, the receiver's; see `passed`.
STAGES = 4


class Crossed(NamedTuple):
    """The links that one placement's streams cross, numbered in order of appearance from 1.

    Number 0 stands for streams within a device. A stream passes the sender's link, the uplink of
    the sender's group, the downlink of the receiver's group and, with ``nic``, the receiver's link.
    """

    number: Ints  # (L,) number of each link, 0 if no stream crosses it
    sends: Ints  # (E,) numbers
    receives: Ints  # (E,) numbers
    send_s: Floats  # (E,) seconds per tuple
    receive_s: Floats  # (E,) seconds per tuple, with nic
    ups: Ints  # (E,) numbers, 0 if a stream crosses no uplink; empty if there are no uplinks
    downs: Ints  # (E,) the same for downlinks
    up_s: Floats  # (E,) seconds per tuple, or empty
    down_s: Floats  # (E,) seconds per tuple, or empty


@bare
def passed(crossed: Crossed, e: int, stage: int) -> tuple[int, float]:
    """Return the number of the link that stream e passes at a stage, and seconds per tuple on it.

    Stages 0 to 3 are the sender's link, the uplink, the downlink and the receiver's link. Number 0
    stands for none.
    """
    if stage == 0:
        return crossed.sends[e], crossed.send_s[e]
    if stage == STAGES - 1:
        return crossed.receives[e], crossed.receive_s[e]
    if crossed.ups.shape[0] == 0:
        return 0, 0.0
    if stage == 1:
        return crossed.ups[e], crossed.up_s[e]
    return crossed.downs[e], crossed.down_s[e]


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
        send_s[e] = link_s(flow, first, 1.0, flow.bits[e])
        if flow.nic:
            receives[e], count = _numbered(crossed.number, second, count)
            receive_s[e] = link_s(flow, second, 1.0, flow.bits[e])
    return count


@bare
def _number_uplinks(placement: Ints, flow: Columns, crossed: Crossed, count: int) -> int:
    """Fill in the links that groups of devices share, numbered from `count`."""
    for e in range(flow.source.shape[0]):
        up, down = uplinks_of(flow, placement[flow.source[e]], placement[flow.target[e]])
        crossed.ups[e] = crossed.downs[e] = 0
        if up >= 0:
            crossed.ups[e], count = _numbered(crossed.number, up, count)
            crossed.up_s[e] = link_s(flow, up, 1.0, flow.bits[e])
        if down >= 0:
            crossed.downs[e], count = _numbered(crossed.number, down, count)
            crossed.down_s[e] = link_s(flow, down, 1.0, flow.bits[e])
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
            busy = link_s(flow, first, tuples, bits)
            if together and (flow.nic or flow.egress):
                leader = room.first[0]
                seconds = busy / flow.stream_tuples[leader]
                crossed.send_s[leader] = max(crossed.send_s[leader], seconds)
            else:
                crossed.send_s[e] = busy / flow.stream_tuples[e]
            if flow.nic:
                busy = link_s(flow, second, tuples, bits)
                crossed.receive_s[e] = busy / flow.stream_tuples[e]
            if flow.up.shape[0] > 0:
                up, down = uplinks_of(flow, a, b)
                if up >= 0 and marks(room, devices, up, together):
                    crossed.up_s[e] = link_s(flow, up, tuples, bits) / flow.stream_tuples[e]
                if down >= 0 and marks(room, devices, down, together):
                    busy = link_s(flow, down, tuples, bits)
                    crossed.down_s[e] = busy / flow.stream_tuples[e]
