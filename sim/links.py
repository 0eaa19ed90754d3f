"""The links that streams cross, and the time that a tuple takes on them."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import kernel


@kernel
def ends_of(nic: bool, devices: int, a: int, b: int) -> tuple[int, int]:
    """Return the first and second link from device a to device b; they are equal for ``pair``."""
    if nic:
        return a, devices + b
    return a * devices + b, a * devices + b


class Links(Protocol):
    """Columns that determine the time of a tuple on a link; see `Flow`."""

    @property
    def gap_s(self) -> Floats: ...
    @property
    def bits(self) -> Floats: ...
    @property
    def seconds_per_bit(self) -> Floats: ...


@kernel
def seconds_on(flow: Links, link: int, e: int) -> float:
    """Return the seconds that one tuple of stream e takes on a link."""
    seconds: float = flow.gap_s[link] + flow.bits[e] * flow.seconds_per_bit[link]
    return seconds


class Crossed(NamedTuple):
    """The links that one placement's streams cross, numbered in order of appearance from 1.

    Number 0 stands for streams within a device. With ``nic``, a stream passes the sender's link and
    then the receiver's.
    """

    number: Ints  # (L,) number of each link, 0 if no stream crosses it
    sends: Ints  # (E,) numbers
    receives: Ints  # (E,) numbers
    send_s: Floats  # (E,) seconds per tuple
    receive_s: Floats  # (E,) seconds per tuple, with nic


def links_crossed(flow: Flow, placement: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and second link of each stream, (E,) each.

    Both are -1 if the stream stays on a device, and the same link with ``pair``.
    """
    a, b = (placement[ends].astype(np.int64) for ends in (flow.source, flow.target))
    pair = a * flow.devices + b
    sends, receives = (a, flow.devices + b) if flow.nic else (pair, pair)
    return np.where(a == b, -1, sends), np.where(a == b, -1, receives)


@kernel
def nothing_crossed(flow: Columns) -> Crossed:
    """Return arrays for `number_links` to fill."""
    streams = flow.source.shape[0]
    return Crossed(
        np.zeros(flow.gap_s.shape[0], np.int32),
        np.zeros(streams, np.int32),
        np.zeros(streams, np.int32),
        np.zeros(streams),
        np.zeros(streams),
    )


@kernel
def number_links(placement: Ints, flow: Columns, crossed: Crossed) -> int:
    """Fill in the links that a placement, (V,), crosses; return the number of links plus 1."""
    number, sends, receives, send_s, receive_s = crossed
    count = 1
    number[:] = 0
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        sends[e] = receives[e] = 0
        if a == b:
            continue
        first, second = ends_of(flow.nic, flow.capacity.shape[0], a, b)
        if number[first] == 0:
            number[first] = count
            count += 1
        sends[e] = number[first]
        send_s[e] = seconds_on(flow, first, e)
        if flow.nic:
            if number[second] == 0:
                number[second] = count
                count += 1
            receives[e] = number[second]
            receive_s[e] = seconds_on(flow, second, e)
    return count
