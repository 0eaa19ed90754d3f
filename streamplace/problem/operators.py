"""Operators and streams: the rows of a graph's columns."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Generic, Literal, TypeVar, overload

from streamplace.display.mixins import TruncatedRepr
from streamplace.errors import GraphError
from streamplace.problem.fields import (
    AMOUNTS,
    COUNT,
    KEY_SHARES,
    LABELS,
    MAX_CORES,
    OWNER,
    PARALLELISM,
    PARTITIONING,
    PARTITIONS,
    SCALING,
    SECONDS,
    SHAPE,
    TEXT,
    Detail,
    Field,
    Number,
    entry,
    fields_of,
    json_value,
)
from streamplace.problem.parallelism import NO_SCALING, NO_SHARES
from streamplace.problem.resources import NO_RESOURCES
from streamplace.problem.seconds import NO_SECONDS

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
        the keys of its ``hash`` streams are divided; there can be no more instances. ``flink``: as
        many key groups as Flink takes by default for the number of instances. None: unknown.
    scaling
        Coefficients of the universal scalability law, such as ``{"sigma": 0.02}``; see
        `problem.parallelism.Scaling`.

    Raises
    ------
    GraphError
        If `resources` or `seconds_on` is not valid; `StreamGraph` checks the other values.
    """

    name: str
    instructions: float = field(
        metadata=entry(
            Number(may_be_unknown=True),
            "CPU instructions per tuple it processes; null: unknown",
            added=False,
        )
    )
    payload_bytes: float = field(
        metadata=entry(
            Number(may_be_unknown=True),
            "size of a tuple it emits, in bytes; null: unknown",
            absent=0.0,
            added=False,
        )
    )
    memory_bytes: float = field(
        default=0.0,
        metadata=entry(
            Number(), "memory it takes on its device, in bytes", is_total=True, added=False
        ),
    )
    requires: tuple[str, ...] = field(
        default=(), metadata=entry(LABELS, "labels that its device must have", added=False)
    )
    instance_of: str = field(
        default="",
        metadata=entry(
            OWNER, "the operator that it is a parallel instance of", expansion="owner", added=False
        ),
    )
    cores: int = field(
        default=1,
        metadata=entry(
            Number(least=1.0, most=MAX_CORES, whole=True),
            "cores of its device that it can use at once",
        ),
    )
    resources: Mapping[str, float] = field(
        default=NO_RESOURCES,
        metadata=entry(AMOUNTS, 'amounts it takes on its device, as {"gpu": 1}', is_total=True),
    )
    instructions_se: float = field(
        default=0.0, metadata=entry(Number(), "standard error of instructions; 0: exact")
    )
    payload_bytes_se: float = field(
        default=0.0, metadata=entry(Number(), "standard error of payload_bytes; 0: exact")
    )
    seconds_on: Mapping[str, float | None] = field(
        default=NO_SECONDS,
        metadata=entry(
            SECONDS,
            "kind of device: seconds per tuple, instead of instructions; null: cannot run",
        ),
    )
    type: str = field(default="", metadata=entry(TEXT, "what it does, such as conv"))
    output_shape: tuple[int, ...] = field(
        default=(), metadata=entry(SHAPE, "sizes of the axes of the tensor that it emits")
    )
    meta_op: str = field(
        default="",
        metadata=entry(TEXT, "the operator that was divided into this one and others"),
    )
    parallelism: int | Literal["free"] | None = field(
        default=None,
        metadata=entry(
            PARALLELISM,
            "number of instances; free: size chooses it; null: 1, which size may change",
            expansion="counts",
        ),
    )
    min_parallelism: int | None = field(
        default=None, metadata=entry(COUNT, "least number of instances", expansion="counts")
    )
    max_parallelism: int | None = field(
        default=None, metadata=entry(COUNT, "largest number of instances", expansion="counts")
    )
    partitions: int | Literal["flink"] | None = field(
        default=None,
        metadata=entry(
            PARTITIONS,
            "partitions that a source reads, or key groups of an operator's hash streams; flink: "
            "Flink's default",
            expansion="counts",
        ),
    )
    scaling: Mapping[str, float] = field(
        default=NO_SCALING,
        metadata=entry(
            SCALING,
            "universal scalability law: work per tuple with p instances",
            expansion="counts",
        ),
    )

    def __post_init__(self) -> None:
        _check_mappings(self, f"operator {self.name!r:.40}", MAPPINGS_OF_OPERATORS)


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
    selectivity: float = field(
        default=1.0,
        metadata=entry(
            Number(may_be_unknown=True),
            "tuples it carries per tuple its source processes; null: unknown",
            expansion="divided",
            added=False,
        ),
    )
    payload_bytes: float | None = field(
        default=None,
        metadata=entry(
            Number(may_be_unknown=True),
            "size of a tuple, in bytes; null: as its source operator emits",
            column="stream_payload_bytes",
            added=False,
        ),
    )
    selectivity_se: float = field(
        default=0.0,
        metadata=entry(Number(), "standard error of selectivity; 0: exact", expansion="divided"),
    )
    partitioning: str = field(
        default="",
        metadata=entry(
            PARTITIONING,
            "how tuples reach the instances of its target; empty: evenly",
            expansion="counts",
        ),
    )
    key_shares: Mapping[str, float] = field(
        default=NO_SHARES,
        metadata=entry(
            KEY_SHARES, "key: its share of the tuples of a hash stream", expansion="counts"
        ),
    )

    def __post_init__(self) -> None:
        ends = f"stream {self.source!r:.40} -> {self.target!r:.40}"
        _check_mappings(self, ends, MAPPINGS_OF_STREAMS)


OPERATOR_FIELDS, STREAM_FIELDS = fields_of(Operator), fields_of(Stream)
OPERATOR_NUMBERS, STREAM_NUMBERS = (
    tuple(each for each in several if isinstance(each.kind, Number))
    for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)
OPERATOR_DETAILS, STREAM_DETAILS = (
    tuple(each for each in several if isinstance(each.kind, Detail))
    for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)
OPERATOR_COUNTS = tuple(each.name for each in OPERATOR_FIELDS if each.expansion == "counts")
"""Names of the fields of operators that say how many instances there are."""
COUNTS = (
    *OPERATOR_COUNTS,
    *(each.name for each in STREAM_FIELDS if each.expansion == "counts"),
)
"""The same with the fields of streams, which say how they reach instances."""
MAPPINGS_OF_OPERATORS, MAPPINGS_OF_STREAMS = (
    tuple((each.name, type(each.default)) for each in several if isinstance(each.default, Mapping))
    for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)
"""Name and class of the fields that are mappings, which rows check when they are made."""


def _check_mappings(
    row: "Operator | Stream", where: str, classes: Iterable[tuple[str, Any]]
) -> None:
    """Replace each mapping of a row by an instance of its class, which checks it."""
    for name, cls in classes:
        if not isinstance(value := getattr(row, name), cls):
            object.__setattr__(row, name, cls(value, f"{where}: {name}", GraphError))


def values_of(row: Operator | Stream, also: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a row that are not at their default, as JSON values.

    They are in the order of files: that of the fields, but standard errors last. Unknown numbers
    are None.

    Parameters
    ----------
    also
        Names of fields whose value is wanted even if it is the default.
    """
    found = {}
    for name, default, required in (
        _OPERATOR_IN_FILES if type(row) is Operator else _STREAM_IN_FILES
    ):
        value = getattr(row, name)
        if (value is default or value == default) and not required and name not in also:
            continue
        if type(value) is float:
            found[name] = None if isnan(value) else value
        else:
            found[name] = json_value(value)
    return found


def in_files(fields: Iterable[Field]) -> list[Field]:
    """Return fields in the order of files: standard errors last."""
    return sorted(fields, key=lambda each: bool(each.error_of))


_OPERATOR_IN_FILES, _STREAM_IN_FILES = (
    [(each.name, each.default, each.required) for each in in_files(several)]
    for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)


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
