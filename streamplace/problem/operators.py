"""Operators and streams: the rows of a graph's columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Generic, Literal, TypeVar, overload

from streamplace.display.mixins import TruncatedRepr
from streamplace.errors import GraphError
from streamplace.problem.parallelism import NO_SCALING, NO_SHARES, KeyShares, Scaling
from streamplace.problem.resources import NO_RESOURCES, Resources
from streamplace.problem.seconds import NO_SECONDS, Seconds
from streamplace.util.added import added_field

Row = TypeVar("Row")
ROWS_SHOWN = 3
UNKNOWN = nan
"""The value of an unknown number of an operator or stream. A `Problem` needs all numbers."""


@dataclass(frozen=True, slots=True, repr=False)
class Operator(TruncatedRepr):
    """An operator of a job.

    Parameters
    ----------
    instructions
        CPU instructions per processed tuple; may be `UNKNOWN`, and stay so if `seconds_on` has a
        time for every kind of device on which the operator is to run.
    payload_bytes
        Bytes per emitted tuple; may be `UNKNOWN`.
    memory_bytes
        Bytes of memory that the operator takes on its device.
    requires
        Labels that its device must have.
    instance_of
        Name of the operator of which this is a parallel instance; empty if it is not an instance.
    cores
        Number of cores of its device that it can use at once. Stream engines run an instance in one
        thread, so the default is 1.
    resources
        Resource -> the amount that the operator takes on its device, such as ``{"gpu": 1}``.
    instructions_se, payload_bytes_se
        Standard errors of the two numbers, in the same units; 0: the number is exact. Streams with
        their own payload have the same relative error as the payload of their source operator.
    seconds_on
        Kind of device (`Device.kind`) -> seconds per processed tuple, which replace instructions on
        devices of this kind; None: the operator cannot run on them.
    type
        What it does, such as ``conv``; only read by people and learned placers.
    output_shape
        Sizes of the axes of the tensor that it emits, if it emits one.
    meta_op
        Name of the operator that was divided into this one and others, such as a sharded product.
    parallelism
        Number of instances, or ``free``: `size` chooses it. None: one instance, which `size` may
        change. Problems consist of instances; see `problem.counts`.
    min_parallelism, max_parallelism
        Limits of the number of instances; None: none.
    partitions
        Number of partitions that a source reads or, of another operator, of key groups into which
        the keys of its ``hash`` streams are divided; there can be no more instances. None: unknown.
    scaling
        Coefficients of the universal scalability law, such as ``{"sigma": 0.02}``; see
        `problem.parallelism.Scaling`.

    Raises
    ------
    GraphError
        If `resources` or `seconds_on` is not valid; `StreamGraph` checks the other values.
    """

    name: str
    instructions: float
    payload_bytes: float
    memory_bytes: float = 0.0
    requires: tuple[str, ...] = ()
    instance_of: str = ""
    cores: int = 1
    resources: Mapping[str, float] = added_field(NO_RESOURCES)
    instructions_se: float = added_field(default=0.0)
    payload_bytes_se: float = added_field(default=0.0)
    seconds_on: Mapping[str, float | None] = added_field(NO_SECONDS)
    type: str = added_field("")
    output_shape: tuple[int, ...] = added_field(())
    meta_op: str = added_field("")
    parallelism: int | Literal["free"] | None = added_field(None)
    min_parallelism: int | None = added_field(None)
    max_parallelism: int | None = added_field(None)
    partitions: int | None = added_field(None)
    scaling: Mapping[str, float] = added_field(NO_SCALING)

    def __post_init__(self) -> None:
        if not isinstance(self.resources, Resources):
            where = f"operator {self.name!r:.40}: resources"
            object.__setattr__(self, "resources", Resources(self.resources, where, GraphError))
        if not isinstance(self.seconds_on, Seconds):
            where = f"operator {self.name!r:.40}: seconds_on"
            object.__setattr__(self, "seconds_on", Seconds(self.seconds_on, where, GraphError))
        if not isinstance(self.scaling, Scaling):
            where = f"operator {self.name!r:.40}: scaling"
            object.__setattr__(self, "scaling", Scaling(self.scaling, where, GraphError))


@dataclass(frozen=True, slots=True, repr=False)
class Stream(TruncatedRepr):
    """A directed edge of a graph: the tuples that one operator sends to another.

    Parameters
    ----------
    source, target
        Names of the operators.
    selectivity
        Tuples on this stream per tuple that its source operator processes; may be `UNKNOWN`.
    payload_bytes
        Bytes per tuple on this stream; None stands for the payload of its source operator.
    selectivity_se
        Standard error of the selectivity, in the same unit; 0: the selectivity is exact.
    partitioning
        How its tuples are distributed over the instances of its target: ``forward``, ``hash``,
        ``rebalance``, ``rescale`` or ``broadcast``; empty: evenly.
    key_shares
        Key -> its share of the tuples; only for ``hash`` streams.

    Raises
    ------
    GraphError
        If a share is not valid; `StreamGraph` checks the other values.
    """

    source: str
    target: str
    selectivity: float = 1.0
    payload_bytes: float | None = None
    selectivity_se: float = added_field(default=0.0)
    partitioning: str = added_field("")
    key_shares: Mapping[str, float] = added_field(NO_SHARES)

    def __post_init__(self) -> None:
        if not isinstance(self.key_shares, KeyShares):
            where = f"stream {self.source!r:.40} -> {self.target!r:.40}: key_shares"
            object.__setattr__(self, "key_shares", KeyShares(self.key_shares, where, GraphError))


def standard_errors_of(row: Operator | Stream) -> dict[str, float]:
    """Return the standard errors of a row's numbers other than 0, by the name of their field."""
    names = ("instructions_se", "payload_bytes_se", "selectivity_se")
    return {name: error for name in names if (error := getattr(row, name, 0.0))}


class RowView(Sequence[Row], Generic[Row]):
    """A read-only sequence of rows that are built from columns on access."""

    def __init__(self, length: int, row: Callable[[int], Row]) -> None:
        self._length = length
        self._row = row

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        shown = [repr(row) for row in self[:ROWS_SHOWN]]
        more = len(self) - ROWS_SHOWN
        return f"[{', '.join(shown)}" + (f", and {more:,} more]" if more > 0 else "]")

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(self._length))]
        return self._row(range(self._length)[index])
