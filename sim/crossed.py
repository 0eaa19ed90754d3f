"""The links that one placement's streams cross, and the seconds that its messages take on them."""

import numpy as np

from sim.flow import ALL, NONE, Columns, Ints
from sim.jit import inner, kernel
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
    devices = flow.capacity.shape[0]
    number, sends, receives, send_s, receive_s, ups, downs, up_s, down_s = crossed
    count = 1
    number[:] = 0
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        sends[e] = receives[e] = 0
        if ups.shape[0] > 0:
            ups[e] = downs[e] = 0
        if a == b:
            continue
        first, second = ends_of(flow.nic, devices, a, b)
        sender = slot_of(flow, devices, first)
        if number[sender] == 0:
            number[sender] = count
            count += 1
        sends[e] = number[sender]
        send_s[e] = seconds_on(flow, first, e)
        if flow.nic:
            if number[second] == 0:
                number[second] = count
                count += 1
            receives[e] = number[second]
            receive_s[e] = seconds_on(flow, second, e)
        if ups.shape[0] > 0:
            up, down = uplinks_of(flow, a, b)
            if up >= 0:
                if number[up] == 0:
                    number[up] = count
                    count += 1
                ups[e] = number[up]
                up_s[e] = seconds_on(flow, up, e)
            if down >= 0:
                if number[down] == 0:
                    number[down] = count
                    count += 1
                downs[e] = number[down]
                down_s[e] = seconds_on(flow, down, e)
    if flow.multicast != NONE:
        share_messages(placement, flow, crossed)
    return count


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
