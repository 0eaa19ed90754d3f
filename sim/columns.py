"""The columns of a flow for kernels, and arrays of placements, with helpers to check both."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
MOST = float(np.finfo(np.float64).max)  # the largest finite number


class Columns(NamedTuple):
    """The columns of a flow as a tuple for kernels; see `streamplace.sim.flow.Flow`."""

    source_tuples: Floats
    instructions: Floats
    work: Floats
    source: Ints
    target: Ints
    selectivity: Floats
    bits: Floats
    stream_tuples: Floats
    capacity: Floats
    cores: Floats
    nic: bool
    gap_s: Floats
    seconds_per_bit: Floats
    overhead_s: Floats
    operator_cores: Floats
    limits_operators: bool
    up: Ints
    down: Ints
    operator_tuples: Floats
    stream_bits: Floats
    overhead_s_per_bit: Floats
    timed: Ints
    timed_instructions: Floats
    class_of: Ints
    egress: bool
    multicast: int
    joins: bool
    first_out: Ints
    out_stream: Ints
    taxing: bool


def read_only(column: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, like the columns of graphs, so that kernels compile only once."""
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


def by_operator(ends: Ints, operators: int) -> tuple[Ints, Ints]:
    """Return the index of each operator's first entry, (V + 1,), and the entries by operator."""
    order = np.argsort(ends, kind="stable").astype(np.int32)
    return np.searchsorted(ends[order], np.arange(operators + 1)).astype(np.int32), order


def check_column(name: str, column: Floats | Ints, length: int) -> None:
    kind = np.int32 if name in ("source", "target") else np.float64
    if column.shape != (length,) or column.dtype != kind:
        expected = f"({length},) {np.dtype(kind)}"
        raise ValueError(f"{name} must be {expected}, not {column.shape} {column.dtype}")
    if not all_within(column, 0.0, MOST):
        raise ValueError(f"{name} must be finite and at least 0")


@kernel
def all_within(column: Floats | Ints, least: float, most: float) -> bool:
    """Return whether all numbers of a column are in a closed range, which NaN is not."""
    within = 0
    for i in range(column.shape[0]):
        within += (column[i] >= least) & (column[i] <= most)  # a sum without branches vectorises
    return bool(within == column.shape[0])


@kernel
def first_misplaced(source: Ints, target: Ints, operators: int) -> int:
    """Return the first stream into an operator that an earlier stream left, or -1."""
    emitted = np.zeros(operators, np.bool_)
    for e in range(source.shape[0]):
        emitted[source[e]] = True
        if emitted[target[e]]:
            return e
    return -1


@kernel
def run_down(source_tuples: Floats, source: Ints, target: Ints, selectivity: Floats) -> Floats:
    """Return the tuples/s of every operator, (V,), following streams from the sources."""
    rate = source_tuples.copy()
    for e in range(source.shape[0]):
        rate[target[e]] += rate[source[e]] * selectivity[e]
    return rate


class Sized(Protocol):
    """The size of a problem."""

    @property
    def operators(self) -> int: ...
    @property
    def devices(self) -> int: ...


def as_rows(flow: Sized, placements: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return placements, (V,) or (K, V) of any integer type, as C-ordered (K, V).

    Raises
    ------
    ValueError
        If the shape or type is wrong.
    """
    rows = np.atleast_2d(np.asarray(placements))
    if rows.shape[1:] != (flow.operators,) or rows.dtype.kind not in "iu":
        raise ValueError(f"placements must be integers of shape (K, {flow.operators})")
    native = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("=")).view()
    native.flags.writeable = (
        False  # like the columns of graphs, so that kernels are compiled only once
    )
    return native


def checked(flow: Sized, placements: NDArray[np.integer]) -> Ints:
    """Return placements as `as_rows` does, as int32, checking that every entry is a device.

    Raises
    ------
    ValueError
        If the shape or type is wrong, or an entry is not a device of the flow.
    """
    rows = as_rows(flow, placements)
    if rows.size and not 0 <= rows.min() <= rows.max() < flow.devices:
        raise ValueError(f"a placement names a device outside 0..{flow.devices - 1}")
    devices = rows.astype(np.int32, copy=False)
    devices.flags.writeable = False
    return devices
