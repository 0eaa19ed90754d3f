"""Messages that several streams of a producer share, and the loads of one producer's messages.

With multicast `DEVICE`, a producer sends one message to each other device that has a consumer, of
the largest of its streams to that device. With `ALL`, it sends one message for all of them, of the
largest of its streams to other devices: the sender pays once, and each receiving device once; every
link concerned carries it once. A message has the most tuples/s and the most bit/s of any of its
streams, so that messages never shrink when a stream joins them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import ALL, Columns, Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.links import Priced, cpu_s, ends_of, link_s, slot_of, uplinks_of

CHARGES = 6  # loads per message: both ends, their links, and uplinks


class Net(NamedTuple):
    """The columns of `Priced` by themselves."""

    nic: bool
    egress: bool
    multicast: int
    cores: Floats
    gap_s: Floats
    seconds_per_bit: Floats
    overhead_s: Floats
    overhead_s_per_bit: Floats
    up: Ints
    down: Ints


class Copies(NamedTuple):
    """The streams of P producers to other operators or units."""

    first: Ints  # (P + 1,) index of each producer's first stream in `stream`
    stream: Ints  # (N,) streams, which number the following columns
    to: Ints  # consumer of each stream
    tuples: Floats  # tuples/s of each stream
    bits: Floats  # bit/s of each stream


class Messages(NamedTuple):
    """The messages of one producer, and the loads that they cause."""

    to: Ints  # (D,) the receiving devices
    first: Ints  # (D,) the first stream to each of them
    tuples: Floats  # (D,) tuples/s of the message to each of them
    bits: Floats  # (D,) bit/s of the message to each of them
    place: Ints  # (D,) where a device is in `to`, if it is
    marked: NDArray[np.int64]  # (D + L,) number of the producer that last marked a device or link
    serial: NDArray[np.int64]  # (1,) number of producers so far
    resource: Ints  # (CHARGES * (D + 1),) loaded devices d, and links l as D + l
    amount: Floats  # (CHARGES * (D + 1),) load of each, in seconds per second
    stream: Ints  # (CHARGES * (D + 1),) the first stream of the message


@kernel
def no_messages(devices: int, links: int) -> Messages:
    """Return arrays for `list_messages` and `charge` to fill."""
    return Messages(
        np.zeros(devices, np.int32),
        np.zeros(devices, np.int32),
        np.zeros(devices),
        np.zeros(devices),
        np.zeros(devices, np.int32),
        np.zeros(devices + links, np.int64),
        np.zeros(1, np.int64),
        np.zeros(CHARGES * (devices + 1), np.int32),
        np.zeros(CHARGES * (devices + 1)),
        np.zeros(CHARGES * (devices + 1), np.int32),
    )


@inner
def copies_of(flow: Columns) -> Copies:
    """Return the streams of a flow by producer; each operator is one."""
    return Copies(
        flow.first_out, flow.out_stream, flow.target, flow.stream_tuples, flow.stream_bits
    )


@bare
def list_messages(copies: Copies, multicast: int, p: int, a: int, on: Ints, room: Messages) -> int:
    """List the messages of producer p on device a; return the number of receiving devices.

    `on` has the devices of consumers, -1 for those not placed yet.
    """
    room.serial[0] += 1
    count, most_tuples, most_bits = 0, 0.0, 0.0
    for k in range(copies.first[p], copies.first[p + 1]):
        e = copies.stream[k]
        b = on[copies.to[e]]
        if b < 0 or b == a:
            continue
        if room.marked[b] != room.serial[0]:
            room.marked[b] = room.serial[0]
            room.to[count], room.first[count], room.place[b] = b, e, count
            room.tuples[count] = room.bits[count] = 0.0
            count += 1
        i = room.place[b]
        room.tuples[i] = max(room.tuples[i], copies.tuples[e])
        room.bits[i] = max(room.bits[i], copies.bits[e])
        most_tuples = max(most_tuples, copies.tuples[e])
        most_bits = max(most_bits, copies.bits[e])
    if multicast == ALL:
        for i in range(count):
            room.tuples[i], room.bits[i] = most_tuples, most_bits
    return count


@bare
def charge(net: Priced, copies: Copies, p: int, a: int, on: Ints, room: Messages) -> int:
    """Fill in the loads of producer p's messages from device a; return their number.

    A resource may be listed several times.
    """
    devices = net.cores.shape[0]
    count = list_messages(copies, net.multicast, p, a, on, room)
    together = net.multicast == ALL
    sending, sent, listed = 0.0, 0.0, 0
    for i in range(count):
        b, tuples, bits = room.to[i], room.tuples[i], room.bits[i]
        sends, receives = ends_of(net.nic, devices, a, b)
        overhead = cpu_s(net, sends, a, tuples, bits)
        busy = link_s(net, sends, tuples, bits)
        if together:
            sending = max(sending, overhead)
        else:
            listed = _list(room, listed, i, a, overhead / net.cores[a])
        if together and (net.nic or net.egress):
            sent = max(sent, busy)
        else:
            listed = _list(room, listed, i, devices + slot_of(net, devices, sends), busy)
        overhead = cpu_s(net, receives, b, tuples, bits)
        listed = _list(room, listed, i, b, overhead / net.cores[b])
        if net.nic:
            busy = link_s(net, receives, tuples, bits)
            listed = _list(room, listed, i, devices + receives, busy)
        if net.up.shape[0] > 0:
            for shared in uplinks_of(net, a, b):
                if shared >= 0 and marks(room, devices, shared, together):
                    busy = link_s(net, shared, tuples, bits)
                    listed = _list(room, listed, i, devices + shared, busy)
    if together and count > 0:
        listed = _list(room, listed, 0, a, sending / net.cores[a])
        if net.nic or net.egress:
            listed = _list(room, listed, 0, devices + a, sent)
    return listed


@bare
def marks(room: Messages, devices: int, shared: int, together: bool) -> bool:
    """Return whether an uplink carries a message of its own, and mark it.

    A message for all receivers passes every uplink once.
    """
    if not together:
        return True
    if room.marked[devices + shared] == room.serial[0]:
        return False
    room.marked[devices + shared] = room.serial[0]
    return True


@bare
def _list(room: Messages, listed: int, i: int, resource: int, amount: float) -> int:
    """List a load by the message to receiver i; return the number of loads."""
    room.stream[listed] = room.first[i]
    room.resource[listed] = resource
    room.amount[listed] = amount
    return listed + 1
