"""What a stream between two devices costs: the resources that it loads, and by how much.

A message of a stream takes time of one core at both ends (`cpu_s`) and of the links that it passes
(`link_s`). `load_ends` adds what a stream costs on devices a and b to all resources concerned.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.jit import bare, bare_entry, inner


class Priced(Protocol):
    """Columns that determine what messages cost; see `Flow`."""

    @property
    def nic(self) -> bool: ...
    @property
    def egress(self) -> bool: ...
    @property
    def multicast(self) -> int: ...
    @property
    def cores(self) -> Floats: ...
    @property
    def gap_s(self) -> Floats: ...
    @property
    def seconds_per_bit(self) -> Floats: ...
    @property
    def overhead_s(self) -> Floats: ...
    @property
    def overhead_s_per_bit(self) -> Floats: ...
    @property
    def up(self) -> Ints: ...
    @property
    def down(self) -> Ints: ...


class PricedAlone(Priced, Protocol):
    """Columns that determine what a stream costs that shares no message with others."""

    @property
    def taxing(self) -> bool: ...


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


class Taxed(Protocol):
    """Columns that determine the CPU time of messages; see `Flow`."""

    @property
    def overhead_s(self) -> Floats: ...
    @property
    def overhead_s_per_bit(self) -> Floats: ...


def cpu_seconds(net: Taxed, link: Any, d: Any, tuples: Any, bits: Any) -> Any:
    """Return the CPU seconds that messages on a link take at device d, one of its ends.

    With tuples/s and bit/s of messages they are seconds of a core per second; with 1 and the bits
    of a tuple, the seconds of one message. All arguments but the first may be arrays.
    """
    return tuples * net.overhead_s[link] + bits * net.overhead_s_per_bit[d]


cpu_s = bare(cpu_seconds)
"""`cpu_seconds` for kernels."""


class Timed(Protocol):
    """Columns that determine the time of messages on links; see `Flow`."""

    @property
    def gap_s(self) -> Floats: ...
    @property
    def seconds_per_bit(self) -> Floats: ...


def link_seconds(net: Timed, link: Any, tuples: Any, bits: Any) -> Any:
    """Return the seconds that messages take on a link; see `cpu_seconds` for the units."""
    return tuples * net.gap_s[link] + bits * net.seconds_per_bit[link]


link_s = bare(link_seconds)
"""`link_seconds` for kernels."""


@bare
def load_ends(
    net: PricedAlone,
    a: int,
    b: int,
    times: float,
    tuples: float,
    bits: float,
    add: Callable[[Any, int, float], None],
    loads: Any,
) -> None:
    """Add what a stream from device a to another device b costs to all resources that it loads.

    Parameters
    ----------
    times, tuples, bits
        The stream has `times` as many tuples/s as `tuples`, and bit/s as `bits`. A utilisation is
        that of `tuples` and `bits`, of which the product with `times` is the last step for links
        and the first one for CPU time; callers rely on how this rounds.
    add
        Called with `loads`, a resource (device d is d, and link l is D + l) and its utilisation.
    """
    devices = net.cores.shape[0]
    sends, receives = ends_of(net.nic, devices, a, b)
    if net.taxing:  # both before anything is written, which takes a tenth off bottleneck's time
        sent = cpu_s(net, sends, a, times * tuples, times * bits) / net.cores[a]
        received = cpu_s(net, receives, b, times * tuples, times * bits) / net.cores[b]
        add(loads, a, sent)
        add(loads, b, received)
    add(loads, devices + slot_of(net, devices, sends), times * link_s(net, sends, tuples, bits))
    if net.nic:
        add(loads, devices + receives, times * link_s(net, receives, tuples, bits))
    if net.up.shape[0] > 0:
        for shared in uplinks_of(net, a, b):
            if shared >= 0:
                add(loads, devices + shared, times * link_s(net, shared, tuples, bits))


@bare
def add_load(load: Floats, r: int, amount: float) -> None:
    """Add an amount to the load of a resource, for `load_ends`."""
    load[r] += amount


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
