"""The links that streams cross, and the time that a tuple takes on them."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Flow, Ints
from sim.jit import bare, bare_entry, inner


@inner
def ends_of(nic: bool, devices: int, a: int, b: int) -> tuple[int, int]:
    """Return the first and second link from device a to device b; they are equal for ``pair``."""
    if nic:
        return a, devices + b
    return a * devices + b, a * devices + b


class Sent(Protocol):
    """A column that says which resource of the network messages load; see `Flow`."""

    @property
    def egress(self) -> bool: ...


@bare_entry
def slot_of(flow: Sent, devices: int, link: int) -> int:
    """Return the resource that messages on a link load: the link, or the sender with ``egress``.

    Uplinks are resources of their own.
    """
    if flow.egress and link < devices * devices:
        return link // devices
    return link


class Uplinked(Protocol):
    """Columns of the links that groups of devices share; see `Flow`."""

    @property
    def up(self) -> Ints: ...
    @property
    def down(self) -> Ints: ...


@bare
def uplinks_of(flow: Uplinked, a: int, b: int) -> tuple[int, int]:
    """Return the uplink and the downlink from device a to device b, -1 where there is none.

    Streams within a group use neither. The caller checks that `up` is not empty.
    """
    up, down = flow.up[a], flow.down[b]
    return up if up != flow.up[b] else -1, down if down != flow.down[a] else -1


class Links(Protocol):
    """Columns that determine the time of a tuple on a link; see `Flow`."""

    @property
    def gap_s(self) -> Floats: ...
    @property
    def bits(self) -> Floats: ...
    @property
    def seconds_per_bit(self) -> Floats: ...


@inner
def seconds_on(flow: Links, link: int, e: int) -> float:
    """Return the seconds that one tuple of stream e takes on a link."""
    seconds: float = flow.gap_s[link] + flow.bits[e] * flow.seconds_per_bit[link]
    return seconds


STAGES = 4  # links that a stream between devices may pass, one after the other; see `passed`


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


def links_crossed(flow: Flow, placement: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last link of each stream, (E,) each, without uplinks.

    Both are -1 if the stream stays on a device, and the same link with ``pair``. With ``egress``,
    they are the number of the sender.
    """
    a, b = (placement[ends].astype(np.int64) for ends in (flow.source, flow.target))
    own = a if flow.egress else a * flow.devices + b
    sends, receives = (a, flow.devices + b) if flow.nic else (own, own)
    return np.where(a == b, -1, sends), np.where(a == b, -1, receives)


def uplinks_crossed(flow: Flow, placement: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the uplink and the downlink of each stream, (E,) each; -1 where there is none."""
    if not flow.uplinks:
        nothing = np.full(len(flow.source), -1)
        return nothing, nothing
    a, b = placement[flow.source], placement[flow.target]
    up, down = flow.up.astype(np.int64), flow.down.astype(np.int64)
    return np.where(up[a] == up[b], -1, up[a]), np.where(down[a] == down[b], -1, down[b])


def all_crossed(flow: Flow, placement: Ints) -> list[NDArray[np.int64]]:
    """Return the links of each stream in the order of their stages, (E,) each, -1 for none."""
    first, last = links_crossed(flow, placement)
    ways = [first, *(uplinks_crossed(flow, placement) if flow.uplinks else ())]
    return [*ways, last] if flow.nic else ways
