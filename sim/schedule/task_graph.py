"""One pass of a graph on a cluster, as checked arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import first_misplaced, read_only
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.orders import longest_paths

Bools = NDArray[np.bool_]
FREE, EGRESS, PAIR, NIC = range(4)  # kinds of network: what messages queue for
NONE, DEVICE, ALL = range(3)  # kinds of multicast: which streams of a producer share a message
TABLE = 1 << 23  # largest number of stored execution times, 64 MB; others are computed when needed


class Columns(NamedTuple):
    """The columns of a task graph as a tuple for kernels; see `TaskGraph`."""

    work: Floats
    cores: Ints
    source: Ints
    target: Ints
    first_out: Ints
    end_out: Ints
    inputs: Ints
    bits: Floats
    silent: Bools
    level: Ints
    speed: Floats
    device_cores: Ints
    startup_s: Floats
    kind: Ints
    measured_row: Ints
    measured_s: Floats
    class_of: Ints
    seconds: Floats
    network: int
    multicast: int
    row: int
    rate: Floats
    latency_s: Floats
    gap_s: Floats
    overhead_s: Floats
    overhead_in_s: Floats
    overhead_s_per_bit: Floats
    rate_in: Floats
    gap_in_s: Floats
    has_jobs: bool
    barrier: bool


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """One pass of a graph on a cluster: V operators as tasks, E streams, D devices.

    An operator runs once, for the whole batch. A stream brings one message, for the whole batch.

    Parameters
    ----------
    work
        (V,) instructions of each operator.
    cores
        (V,) int32 number of cores that each operator can use.
    source, target
        (E,) int32 operator indices, sorted so that the streams of one source follow one another and
        every stream into an operator precedes the streams out of it.
    bits
        (E,) bits of the message on each stream.
    silent
        (E,) whether a stream brings no message; its input then counts when its source ends.
    speed
        (D,) instructions/s of one core.
    device_cores
        (D,) int32 number of cores.
    startup_s
        (D,) seconds that cores rest after an operator before the next operator may start on them.
    kind, measured_row, measured_s
        (D,) int32 kind of each device; (V,) int32 row of each operator in a table of execution
        times in seconds by kind of device, or -1; and the table, (T, K). In it, NaN marks a
        time that follows from `work`, and infinity for a device that cannot run the operator.
    network, multicast
        One of `FREE`, `EGRESS`, `PAIR`, `NIC`, and one of `NONE`, `DEVICE`, `ALL`.
    rate, latency_s, gap_s, overhead_s, overhead_in_s
        Bits/s, seconds of latency, of gap, and of CPU time per message at the sender and at the
        receiver, of the link from each device to each: (D * D,), or (1,) if all links are equal.
        Under ``NIC``, the rate and the gap are those of the sender.
    overhead_s_per_bit
        (D,) further seconds of CPU time per bit of a message, at both ends.
    rate_in, gap_in_s
        (D,) bits/s and gap in seconds of each receiver, under ``NIC``; otherwise empty.
    barrier
        Whether a level of operators starts only when the level before is done, with its messages.

    Raises
    ------
    ValueError
        If shapes do not match, indices are out of range or streams are not in order.
    """

    work: Floats
    cores: Ints
    source: Ints
    target: Ints
    bits: Floats
    silent: Bools
    speed: Floats
    device_cores: Ints
    startup_s: Floats
    kind: Ints
    measured_row: Ints
    measured_s: Floats
    network: int
    multicast: int
    rate: Floats
    latency_s: Floats
    gap_s: Floats
    overhead_s: Floats
    overhead_in_s: Floats
    overhead_s_per_bit: Floats
    rate_in: Floats
    gap_in_s: Floats
    barrier: bool = False

    def __post_init__(self) -> None:
        operators, streams, devices = len(self.work), len(self.source), len(self.speed)
        if operators == 0 or devices == 0:
            raise ValueError("a task graph needs at least one operator and one device")
        for name in ("source", "target"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        links = len(self.rate)
        if links not in (1, devices * devices):
            raise ValueError(f"rate must have 1 or {devices * devices} values (got {links})")
        receivers = devices if self.network == NIC else 0
        lengths = dict.fromkeys(("work", "cores", "measured_row"), operators)
        lengths |= dict.fromkeys(("source", "target", "bits", "silent"), streams)
        lengths |= dict.fromkeys(("speed", "device_cores", "startup_s", "kind"), devices)
        lengths |= dict.fromkeys(("latency_s", "gap_s", "overhead_s", "overhead_in_s"), links)
        lengths |= {"overhead_s_per_bit": devices, "rate_in": receivers, "gap_in_s": receivers}
        for name, length in lengths.items():
            if getattr(self, name).shape != (length,):
                raise ValueError(f"{name} must have the shape ({length},)")
        for ends in (self.source, self.target):
            if streams and (ends.min() < 0 or ends.max() >= operators):
                raise ValueError("source and target must be operator indices")
        if np.count_nonzero(np.diff(self.source, prepend=-1)) > len(np.unique(self.source)):
            raise ValueError("the streams of one source must follow one another")
        if first_misplaced(self.source, self.target, operators) >= 0:
            raise ValueError("every stream into an operator must precede the streams out of it")

    @property
    def operators(self) -> int:
        """The number of operators, V."""
        return len(self.work)

    @property
    def devices(self) -> int:
        """The number of devices, D."""
        return len(self.speed)

    @cached_property
    def inputs(self) -> Ints:
        """(V,) int32 number of streams into each operator."""
        return np.bincount(self.target, minlength=self.operators).astype(np.int32)

    @cached_property
    def first_out(self) -> Ints:
        """(V,) int32 index of the first stream out of each operator."""
        return self._out[0]

    @cached_property
    def end_out(self) -> Ints:
        """(V,) int32 index after the last stream out of each operator."""
        return self._out[1]

    @cached_property
    def _out(self) -> tuple[Ints, Ints]:
        first, end = np.zeros((2, self.operators), np.int32)
        starts = np.flatnonzero(np.diff(self.source, prepend=-1))
        first[self.source[starts]] = starts
        end[self.source[starts]] = np.append(starts[1:], len(self.source))
        return first, end

    @cached_property
    def level(self) -> Ints:
        """(V,) int32 number of streams on the longest path to each operator."""
        return longest_paths(self.source, self.target, self.operators)

    @property
    def row(self) -> int:
        """The index of the link from device a to device b is a * row + b; 0 if all are equal."""
        return self.devices if len(self.rate) > 1 else 0

    @cached_property
    def class_of(self) -> Ints:
        """(D,) int32 class of each device; the devices of a class take the same time for a task."""
        traits = np.stack([self.speed, self.device_cores, self.kind], axis=1)
        return np.unique(traits, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)

    @cached_property
    def seconds(self) -> Floats:
        """(V, C) execution time of each operator on each class of devices, in seconds.

        Infinity: the device cannot run the operator. The table is empty, (0, 0), if it
        would be too large; `seconds_on` then computes the times.
        """
        first = np.unique(self.class_of, return_index=True)[1].astype(np.int32)
        if self.operators * len(first) > TABLE:
            return np.zeros((0, 0))
        return _times(self._without_table, first)

    def seconds_by_device(self) -> Floats:
        """Return the execution time of each operator on each device, (V, D), in seconds.

        Infinity: the device cannot run the operator.
        """
        return _times(self._without_table, np.arange(self.devices, dtype=np.int32))

    def seconds_between(self, e: int) -> Floats:
        """Return the time of the message of a stream alone between devices, (D, D), in seconds."""
        shape, row = (self.devices, self.devices), self.row or 1
        seconds = self.bits[e] / self.rate.reshape(-1, row)
        if self.network == NIC:
            seconds = np.maximum(seconds, self.bits[e] / self.rate_in)
        seconds = np.broadcast_to(seconds + self.latency_s.reshape(-1, row), shape).copy()
        np.fill_diagonal(seconds, 0.0)
        return seconds

    @cached_property
    def has_jobs(self) -> bool:
        """Whether messages take CPU time, so that devices run jobs besides operators."""
        taxes = (self.overhead_s, self.overhead_in_s, self.overhead_s_per_bit)
        return any(bool(tax.any()) for tax in taxes)

    @cached_property
    def columns(self) -> Columns:
        """The columns as a tuple for kernels."""
        return self._without_table._replace(seconds=self.seconds)

    @cached_property
    def _without_table(self) -> Columns:
        columns = {name: getattr(self, name) for name in Columns._fields if name != "seconds"}
        return Columns(seconds=np.zeros((0, 0)), **columns)


@bare
def seconds_on(tasks: Columns, v: int, d: int) -> float:
    """Return the execution time of operator v on device d, in seconds."""
    if tasks.seconds.shape[0] > 0:
        return float(tasks.seconds[v, tasks.class_of[d]])
    row = tasks.measured_row[v]
    if row >= 0:
        measured = tasks.measured_s[row, tasks.kind[d]]
        if not np.isnan(measured):
            return float(measured)
    return float(tasks.work[v] / (tasks.speed[d] * min(tasks.cores[v], tasks.device_cores[d])))


@bare
def link_between(tasks: Columns, a: int, b: int) -> int:
    """Return the index of the link from device a to device b."""
    return (a * tasks.row + b) if tasks.row else 0


@bare
def arrival_over(tasks: Columns, begin: float, bits: float, link: int) -> float:
    """Return the moment at which a message that begins on a link arrives.

    Latency is added last, so that every pass rounds alike and ties are the same.
    """
    return float(begin + bits / tasks.rate[link] + tasks.latency_s[link])


@bare
def message_seconds(tasks: Columns, bits: float, a: int, b: int) -> float:
    """Return the time of a message between two devices if nothing delays it, in seconds."""
    link = link_between(tasks, a, b)
    seconds = bits / tasks.rate[link]
    if tasks.network == NIC:
        seconds = max(seconds, bits / tasks.rate_in[b])
    return float(seconds + tasks.latency_s[link])


@kernel
def _times(tasks: Columns, devices: Ints) -> Floats:
    table = np.empty((tasks.work.shape[0], devices.shape[0]))
    for v in range(table.shape[0]):
        for c in range(devices.shape[0]):
            table[v, c] = seconds_on(tasks, v, devices[c])
    return table
