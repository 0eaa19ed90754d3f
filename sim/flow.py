"""The flow of one graph on one cluster at one source rate, as checked arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import (
    Columns,
    Floats,
    Ints,
    all_within,
    as_rows,
    by_operator,
    check_column,
    checked,
    first_misplaced,
    read_only,
    run_down,
)

__all__ = [
    "ALL",
    "DEVICE",
    "NONE",
    "Columns",
    "Floats",
    "Flow",
    "Ints",
    "as_rows",
    "between_devices",
    "by_operator",
    "checked",
    "crossing_seconds",
    "first_misplaced",
    "run_down",
]

NONE, DEVICE, ALL = range(3)  # kinds of multicast: which streams of a producer share a message


@dataclass(frozen=True, eq=False)
class Flow:
    """One graph on one cluster at one source rate: V operators, E streams, D devices, L links.

    Parameters
    ----------
    source_tuples
        (V,) tuples/s offered to each source; 0 for other operators.
    instructions
        (V,) instructions per tuple processed.
    source, target
        (E,) int32 operator indices; every stream into an operator precedes the streams out of it.
    selectivity
        (E,) tuples emitted on the stream per tuple that its source operator processes.
    bits
        (E,) bits per tuple on the stream.
    capacity
        (D,) instructions/s of all cores together.
    cores
        (D,) number of cores.
    nic
        False: one link per ordered device pair; a -> b is link a * D + b, and L = D * D.
        True: device a sends over link a and device b receives over link D + b; L = 2 * D.
        The uplinks of groups of devices, if there are any, are further links after these.
    gap_s, seconds_per_bit, overhead_s
        (L,) LogP: seconds that a link needs per message and per bit, and CPU seconds of one core
        per message at either end (with ``nic``: at the link's own end).
    operator_cores
        (V,) number of cores of its device that an operator can use; None: 1 each.
    up, down
        (D,) int32 link that streams from each device to devices of other groups share, after the
        sender's own link, and link that streams from other groups to it share, before the
        receiver's own; -1: none. Devices of one group have the same links. None: no device has any.
    overhead_s_per_bit
        (D,) further CPU seconds of one core per bit of a message, at both ends; None: 0.
    timed, timed_instructions, class_of
        (V,) int32 row of each operator in a table of instructions by class of devices, or -1; the
        table, (T, C), whose entries take as long on one class of devices as a tuple does, with
        infinity for classes that cannot run the operator; and (D,) int32 class of each device,
        numbered without gaps. Entries replace `instructions`, which are then only typical. None: no
        operator has a row.
    stated
        (T, C) whether an entry is a stated time, and not one of the operator's instructions, which
        are uncertain if those are. None: all are.
    egress
        Whether all that a device sends shares one resource: device a sends over resource a, in the
        place of link a, though times are those of link a * D + b. Not with `nic`.
    multicast
        One of `NONE`, `DEVICE` and `ALL`: a message per stream; one per device that receives, of
        the largest of the producer's streams to it; or one for all other devices, of the
        largest of all these streams.
    joins
        Whether an operator takes one tuple from each of its inputs at a time. Every operator and
        stream then has the tuples/s of one source, and every selectivity is 1.

    Raises
    ------
    ValueError
        If shapes do not match, indices are out of range, numbers are negative or not finite, or
        streams are not in order, as on a cycle.
    """

    source_tuples: Floats
    instructions: Floats
    source: Ints
    target: Ints
    selectivity: Floats
    bits: Floats
    capacity: Floats
    cores: Floats
    nic: bool
    gap_s: Floats
    seconds_per_bit: Floats
    overhead_s: Floats
    operator_cores: Floats = None  # type: ignore[assignment]  # ones, set below
    up: Ints = None  # type: ignore[assignment]  # empty, set below
    down: Ints = None  # type: ignore[assignment]
    overhead_s_per_bit: Floats = None  # type: ignore[assignment]
    timed: Ints = None  # type: ignore[assignment]
    timed_instructions: Floats = None  # type: ignore[assignment]
    class_of: Ints = None  # type: ignore[assignment]
    stated: NDArray[np.bool_] = None  # type: ignore[assignment]
    egress: bool = False
    multicast: int = NONE
    joins: bool = False

    def __post_init__(self) -> None:
        operators, streams, devices = len(self.instructions), len(self.source), len(self.capacity)
        none = np.zeros(0, np.int32)
        defaults: dict[str, NDArray[Any]] = {"up": none, "down": none, "timed": none}
        defaults |= {"operator_cores": np.ones(operators), "timed_instructions": np.zeros((0, 0))}
        defaults |= {"class_of": np.zeros(devices, np.int32)}
        shape = (0, 0) if self.timed_instructions is None else self.timed_instructions.shape
        defaults |= {"stated": np.ones(shape, np.bool_)}
        defaults |= {"overhead_s_per_bit": np.zeros(devices)}
        for name, default in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        for name in ("source", "target", "selectivity", *defaults):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        links = self.own_links + self.uplinks
        lengths = dict.fromkeys(("source_tuples", "instructions", "operator_cores"), operators)
        lengths |= dict.fromkeys(("source", "target", "selectivity", "bits"), streams)
        lengths |= dict.fromkeys(("capacity", "cores"), devices)
        lengths |= dict.fromkeys(("gap_s", "seconds_per_bit", "overhead_s"), links)
        lengths |= {"overhead_s_per_bit": devices}
        for name, length in lengths.items():
            check_column(name, getattr(self, name), length)
        if operators == 0 or devices == 0:
            raise ValueError("a flow needs at least one operator and one device")
        for name in ("capacity", "cores", "operator_cores"):
            if not getattr(self, name).all():
                raise ValueError(f"{name} must be above 0")
        check_uplinks(self.up, self.down, devices if self.uplinks else 0, self.own_links)
        check_times(self.timed, self.timed_instructions, self.class_of, operators, devices)
        if self.nic and self.egress:
            raise ValueError("nic and egress exclude each other")
        if self.joins and not np.all(self.selectivity == 1.0):
            raise ValueError("selectivity must be 1 where operators join their inputs")
        check_ends(self.source, self.target, operators)

    @cached_property
    def operators(self) -> int:
        """The number of operators, V."""
        return len(self.instructions)

    @cached_property
    def devices(self) -> int:
        """The number of devices, D."""
        return len(self.capacity)

    @property
    def own_links(self) -> int:
        """The number of links of pairs of devices or of single devices, without uplinks."""
        return 2 * self.devices if self.nic else self.devices * self.devices

    @cached_property
    def uplinks(self) -> int:
        """The number of links that groups of devices share."""
        if not len(self.up):
            return 0
        return int(max(self.up.max(), self.down.max())) + 1 - self.own_links

    @cached_property
    def source_rate(self) -> float:
        """Offered tuples/s of all sources together; of the slowest if operators join inputs."""
        if self.joins:
            fed = np.isin(np.arange(self.operators), self.target)
            return float(self.source_tuples[~fed].min())
        return float(self.source_tuples.sum())

    @cached_property
    def operator_tuples(self) -> Floats:
        """(V,) tuples/s that each operator processes at the offered rate."""
        if self.joins:
            return np.full(self.operators, self.source_rate)
        return run_down(self.source_tuples, self.source, self.target, self.selectivity)

    @cached_property
    def stream_tuples(self) -> Floats:
        """(E,) tuples/s on each stream at the offered rate."""
        return self.operator_tuples[self.source] * self.selectivity

    @cached_property
    def stream_bits(self) -> Floats:
        """(E,) bit/s on each stream at the offered rate."""
        return self.stream_tuples * self.bits

    @cached_property
    def work(self) -> Floats:
        """(V,) instructions/s of each operator at the offered rate; typical ones if it is timed."""
        return self.operator_tuples * self.instructions

    @cached_property
    def limits_operators(self) -> bool:
        """Whether some operator cannot use all cores of some device; see `streamplace.sim.work`."""
        return bool(self.cores.max() > self.operator_cores.min())

    @cached_property
    def taxing(self) -> bool:
        """Whether messages between devices cost CPU time."""
        return bool(self.overhead_s.any() or self.overhead_s_per_bit.any())

    @property
    def first_out(self) -> Ints:
        """(V + 1,) index of each operator's first outgoing stream in `out_stream`."""
        return self._out[0]

    @property
    def out_stream(self) -> Ints:
        """Streams with tuples, by producer; empty, as `first_out`, without multicast."""
        return self._out[1]

    @cached_property
    def _out(self) -> tuple[Ints, Ints]:
        if self.multicast == NONE:
            return read_only(np.zeros(0, np.int32)), read_only(np.zeros(0, np.int32))
        loaded = np.flatnonzero(self.stream_tuples > 0).astype(np.int32)
        first, order = by_operator(self.source[loaded], self.operators)
        return read_only(first), read_only(loaded[order])

    @cached_property
    def columns(self) -> Columns:
        """The flow as a tuple of arrays for kernels."""
        return Columns(*(getattr(self, name) for name in Columns._fields))

    @cached_property
    def traffic(self) -> Floats:
        """(E,) utilisation of an average link by each stream."""
        gap_s, seconds_per_bit = crossing_seconds(self)
        return self.stream_tuples * gap_s + self.stream_bits * seconds_per_bit

    @cached_property
    def ends(self) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """The ends of streams, grouped by operator.

        Index of each operator's first end, (V + 1,); and for each end, (2E,), the operator at the
        other end, the stream, and whether it is outgoing.
        """
        streams = np.arange(len(self.source), dtype=np.int32)
        first, order = by_operator(np.concatenate([self.source, self.target]), self.operators)
        other = np.concatenate([self.target, self.source])[order]
        return first, other, np.concatenate([streams, streams])[order], order < len(streams)

    @cached_property
    def sinks(self) -> Ints:
        """Indices of the operators without outgoing streams."""
        emits = np.zeros(self.operators, dtype=np.bool_)
        emits[self.source] = True
        return np.flatnonzero(~emits).astype(np.int32)

    @cached_property
    def nominal_sink_tuples(self) -> float:
        """Tuples/s that reach the sinks if nothing is throttled."""
        # the same order of summation as the solver
        return float(np.cumsum(self.operator_tuples[self.sinks])[-1])

    @cached_property
    def pair_weights(self) -> tuple[Floats, Floats] | None:
        """Stream weights, (E,), and resource coefficients for the fast bottleneck kernel, or None.

        That kernel sums one weight per stream into a D x D matrix and takes the largest
        coefficient * sum. It therefore needs pair links without overhead and without uplinks, a
        message per stream, no times by class of devices, and either no gap or identical links.
        Coefficients are those of devices, then of links (0 on the diagonal, which is communication
        within a device), padded with zeros to a multiple of 8.
        """
        gap, per_bit = self.gap_s, self.seconds_per_bit
        if self.nic or self.uplinks or self.taxing:
            return None
        if self.egress or self.multicast != NONE or len(self.timed):
            return None
        crossing = ~np.eye(self.devices, dtype=bool).ravel()
        if not gap[crossing].any():
            weight, coefficient = self.stream_bits, per_bit * crossing
        elif np.ptp(gap[crossing]) == 0 and np.ptp(per_bit[crossing]) == 0:
            first = int(np.argmax(crossing))
            weight = self.stream_tuples * gap[first] + self.stream_bits * per_bit[first]
            coefficient = crossing.astype(np.float64)
        else:
            return None
        coefficient = np.concatenate([1.0 / self.capacity, coefficient])
        padded = np.zeros(-(-len(coefficient) // 8) * 8)  # vectorised loops then leave no rest
        padded[: len(coefficient)] = coefficient
        return weight, padded

    def __repr__(self) -> str:
        return (
            f"Flow({self.operators} operators, {len(self.source)} streams, {self.devices} devices)"
        )


class Linked(Protocol):
    """Devices and their links; see `Flow`."""

    @property
    def nic(self) -> bool: ...
    @property
    def capacity(self) -> Floats: ...
    @property
    def gap_s(self) -> Floats: ...
    @property
    def seconds_per_bit(self) -> Floats: ...


def between_devices(net: Linked) -> NDArray[np.bool_]:
    """Return which of the devices' own links lead to another device, without uplinks, as a mask.

    With one device, all count.
    """
    count = len(net.capacity)
    if net.nic or count == 1:
        return np.ones(2 * count if net.nic else 1, dtype=np.bool_)
    return ~np.eye(count, dtype=np.bool_).ravel()


def crossing_seconds(net: Linked) -> tuple[float, float]:
    """Return seconds per message and per bit of an average link between two devices."""
    own = np.flatnonzero(between_devices(net))
    return float(net.gap_s[own].mean()), float(net.seconds_per_bit[own].mean())


def check_ends(source: Ints, target: Ints, operators: int) -> None:
    """Refuse streams whose ends, (E,) each, are not operators, or that are not in order.

    Raises
    ------
    ValueError
        If an end is not an operator index, or a stream enters an operator that an earlier one left.
    """
    for ends in (source, target):
        if not all_within(ends, 0.0, operators - 1.0):
            raise ValueError("source and target must be operator indices")
    misplaced = first_misplaced(source, target, operators)
    if misplaced >= 0:
        raise ValueError(f"stream {misplaced} enters an operator that has already emitted")


def check_uplinks(up: Ints, down: Ints, devices: int, own_links: int) -> None:
    """Refuse shared links that do not belong to each of D devices, (D,), or are links of devices.

    Parameters
    ----------
    up, down
        See `streamplace.sim.flow.Flow`.
    devices
        The number of devices, or 0 if there are no shared links.
    own_links
        The number of links of devices; shared links follow them.

    Raises
    ------
    ValueError
        If that is so.
    """
    for shared in (up, down):
        if shared.shape != (devices,) or shared.dtype != np.int32:
            raise ValueError("up and down must be int32 links of every device, or empty")
        if np.any((shared != -1) & (shared < own_links)):
            raise ValueError("up and down must be links after those of devices, or -1")


def check_times(
    timed: Ints, timed_instructions: Floats, class_of: Ints, operators: int, devices: int
) -> None:
    """Refuse a table of times that does not fit V operators and D devices; see `Flow`.

    Raises
    ------
    ValueError
        If shapes do not match, an index is outside the table, or an entry is negative or NaN.
    """
    rows, classes = timed_instructions.shape
    if timed.shape not in ((0,), (operators,)) or class_of.shape != (devices,):
        raise ValueError("timed and class_of must have a number per operator and per device")
    if len(timed) and not -1 <= timed.min() <= timed.max() < rows:
        raise ValueError("timed must be rows of timed_instructions, or -1")
    if len(timed) and not 0 <= class_of.min() <= class_of.max() < classes:
        raise ValueError("class_of must be columns of timed_instructions")
    if np.isnan(timed_instructions).any() or np.any(timed_instructions < 0):
        raise ValueError("timed_instructions must be at least 0")
