"""Operators and streams, the rows of graphs, and their fields: kinds, meanings and checks.

The dataclasses `Operator` and `Stream` are the tables of their fields. The columns of graphs, all
file formats, the expansion into instances and the hash of a graph follow from them.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import partial
from inspect import getdoc
from math import inf, isnan, nan
from typing import Any, Generic, Literal, TypeVar, overload

from streamplace.display.mixins import TruncatedRepr
from streamplace.errors import GraphError
from streamplace.problem.parallelism import (
    NO_SCALING,
    NO_SHARES,
    KeyShares,
    Scaling,
    count_of,
    parallelism_of,
    partitioning_of,
    partitions_of,
)
from streamplace.problem.resources import NO_RESOURCES, Resources, whole_amounts
from streamplace.problem.seconds import NO_SECONDS, Seconds
from streamplace.util.added import ADDED
from streamplace.util.checks import check_int, check_str

UNKNOWN = nan
"""The value of an unknown number of an operator or stream. A `Problem` needs all numbers."""

MAX_CORES = 1_000_000
"""The largest number of cores of a device, and that an operator can use."""

MAX_SIZE = 2**63 - 1
"""The largest size of an axis of an operator's output."""

ROWS_SHOWN = 3
Row = TypeVar("Row")
Expansion = Literal["copied", "divided", "counts", "owner"]
_ENTRY = "entry"


@dataclass(frozen=True)
class Number:
    """The kind of a number that every operator, or every stream, has, stored as a column.

    Parameters
    ----------
    may_be_unknown
        Whether NaN may stand for a number that is not yet known.
    least, most
        Smallest and largest value allowed.
    whole
        Whether values must be whole numbers.
    """

    may_be_unknown: bool = False
    least: float = 0.0
    most: float = inf
    whole: bool = False


@dataclass(frozen=True)
class Detail:
    """A kind of values that few operators, or streams, have, stored by index.

    Parameters
    ----------
    check
        Returns the checked value at a place such as ``operators[3].type``.
    accepts
        Whether a row that is a mapping may have a value; `check` sees it later.
    expected
        What such a row must have, in words.
    text
        What the text of a value is in DOT and GraphML, in words, if it is JSON.
    """

    check: Callable[[str, Any], Any]
    accepts: Callable[[object], bool] = lambda _: True
    expected: str = ""
    text: str = ""


@dataclass(frozen=True)
class Field:
    """A field of `Operator` or `Stream`.

    Parameters
    ----------
    kind
        What its values are, in which range, and how graphs store them.
    about
        Its meaning, with the unit, for the docstring of the row and the schemas of files.
    expansion
        What instances have, or streams between instances. ``copied``: the value of their operator
        or stream; ``divided``: their share of it; ``counts``: nothing, since it says how many there
        are; ``owner``: the expansion sets it.
    is_total
        Whether the value of an operator that stands for several instances is the sum of theirs.
    absent
        The value of a required number that a file does not state; None: it must.
    column
        The attribute of `StreamGraph`; empty: it is called as the field.
    name, default, required, added
        See `fields_of`, which sets them.
    """

    kind: Number | Detail
    about: str
    expansion: Expansion = "copied"
    is_total: bool = False
    absent: float | None = None
    column: str = ""
    name: str = ""
    default: Any = None
    required: bool = False
    added: bool = False

    @property
    def error_of(self) -> str:
        """The field whose standard error this is; empty if it is none."""
        return self.name.removesuffix("_se") if self.name.endswith("_se") else ""

    @property
    def is_optional(self) -> bool:
        """Whether None stands for the value of another field, as for payloads of streams."""
        return self.default is None and not self.required

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers, in a column."""
        return isinstance(self.kind, Number) and self.kind.whole

    def by_index(self, rows: str, several: Mapping[int, Any]) -> dict[int, Any]:
        """Return the checked values of a detail by index, sorted, without those that are empty.

        Messages begin with `rows`, such as ``operators``.

        Raises
        ------
        GraphError
            On a value that is not valid.
        """
        assert isinstance(self.kind, Detail)
        check = self.kind.check
        checked = {i: check(f"{rows}[{i}].{self.name}", several[i]) for i in sorted(several)}
        return {i: value for i, value in checked.items() if value}


def entry(kind: Number | Detail, about: str, *, added: bool = True, **rest: Any) -> dict[str, Any]:
    """Return the metadata of a dataclass's field that make it a `Field` with these values.

    Parameters
    ----------
    added
        Whether a version after 0.2 added it. Rows and graphs with its default then keep their
        hash, repr and files.
    """
    return {_ENTRY: Field(kind, about, added=added, **rest), ADDED: added}


def fields_of(row: type) -> tuple[Field, ...]:
    """Return the fields of `Operator` or `Stream`, in order, without their names."""
    return tuple(
        dataclasses.replace(
            each.metadata[_ENTRY],
            name=each.name,
            column=each.metadata[_ENTRY].column or each.name,
            default=None if each.default is MISSING else each.default,
            required=each.default is MISSING,
        )
        for each in dataclasses.fields(row)
        if _ENTRY in each.metadata
    )


def _with_meanings(row: type[Row]) -> type[Row]:
    """Add to the docstring of `Operator` or `Stream` what its fields mean, as `entry` says it."""
    text, title, raises = (getdoc(row) or "").partition("Raises\n")
    meanings = "".join(
        f"{each.name}\n    {each.about[0].upper()}{each.about[1:]}.\n" for each in fields_of(row)
    )
    row.__doc__ = f"{text}Parameters\n----------\n{meanings}\n{title}{raises}"
    return row


def check_text(what: str, text: str) -> str:
    """Return text; refuse a value that is not text, or text that cannot be encoded."""
    check_str(f"{what}:", text, GraphError)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GraphError(f"{what}: is not valid unicode text") from None
    return text


def _are_labels(value: object) -> bool:
    """Return whether a value is a collection of texts; text alone would be a label per letter."""
    if isinstance(value, str) or not isinstance(value, Collection):
        return False
    return all(isinstance(label, str) for label in value)


def json_value(value: Any) -> Any:
    """Return a value of an operator, stream or device as a JSON value."""
    if isinstance(value, Resources):
        return whole_amounts(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def plain(value: Any) -> Any:
    """Return a detail of an operator or stream with a dict for a mapping; see `json_value`."""
    return dict(value) if isinstance(value, Mapping) else value


def _labels_of(where: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and value:
        raise GraphError(f"{where}: must be a list of labels, not text")
    if value and not _are_labels(value):
        raise GraphError(f"{where}: must be a list of labels (got {value!r:.40})")
    return tuple(value or ())


def _text_or_none(where: str, value: str) -> str:
    return check_text(where, value) if value else ""


def _shape_of(where: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        raise GraphError(f"{where}: must be a list of whole numbers (got {value!r:.40})")
    for size in value:
        check_int(f"{where}: a size", size, GraphError)
        if not 0 <= size <= MAX_SIZE:
            raise GraphError(f"{where}: sizes must be 0 to 2^63 - 1 (got {size})")
    return tuple(int(size) for size in value)


def _values_of(cls: Any, where: str, value: Any) -> Any:
    """Return a mapping as an instance of its class, which checks it."""
    return value if isinstance(value, cls) else cls(value, where, GraphError)


def _mapping(cls: type, expected: str, example: str) -> Detail:
    """Return a kind of mappings, which are instances of a class."""
    return Detail(
        partial(_values_of, cls),
        lambda value: isinstance(value, Mapping),
        f"a mapping of {expected}",
        f"object such as {example}",
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


TEXT = Detail(check_text, _is_text, "text")
OWNER = Detail(_text_or_none, _is_text, "text")
LABELS = Detail(_labels_of, _are_labels, "a list of labels", "list of labels")
AMOUNTS = _mapping(Resources, "names to amounts", '{"gpu": 1}')
SECONDS = _mapping(Seconds, "kinds of devices to seconds", '{"gpu": 0.001}')
SHAPE = Detail(_shape_of, text="list of sizes")
COUNT = Detail(count_of)
PARALLELISM = Detail(parallelism_of)
PARTITIONS = Detail(partitions_of)
SCALING = _mapping(Scaling, "sigma and kappa to numbers", '{"sigma": 0.02}')
PARTITIONING = Detail(partitioning_of, _is_text, "text")
KEY_SHARES = _mapping(KeyShares, "keys to shares", '{"berlin": 0.2}')


@_with_meanings
@dataclass(frozen=True, slots=True, repr=False)
class Operator(TruncatedRepr):
    """An operator of a job, with a name that no other one has.

    A number that files have as null is `UNKNOWN`; for other fields, null is None. Instructions may
    stay unknown if `seconds_on` has a time for every kind of device (`Device.kind`) on which the
    operator is to run. Streams with their own payload have the same relative error as the payload
    of their source operator. No operator has more instances than partitions, and `Scaling` says how
    instances slow each other down; problems consist of instances, see `problem.counts`.

    Raises
    ------
    GraphError
        If `resources`, `seconds_on` or `scaling` is not valid; `StreamGraph` checks the rest.
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
        default=1,  # since stream engines run an instance in one thread
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
            "partitions of a source, or key groups of hash streams; flink: Flink's default",
            expansion="counts",
        ),
    )
    scaling: Mapping[str, float] = field(
        default=NO_SCALING,
        metadata=entry(SCALING, "universal scalability law of work per tuple", expansion="counts"),
    )
    typical: tuple[str, ...] = field(
        default=(), metadata=entry(LABELS, "which of instructions and payload_bytes are guesses")
    )

    def __post_init__(self) -> None:
        _check_mappings(self, f"operator {self.name!r:.40}", MAPPINGS_OF_OPERATORS)


@_with_meanings
@dataclass(frozen=True, slots=True, repr=False)
class Stream(TruncatedRepr):
    """A directed edge of a graph: the tuples that one operator sends to another.

    It names its source operator and its target operator. A selectivity that files have as null is
    `UNKNOWN`; for the payload, null is None. The partitioning is ``forward``, ``hash``,
    ``rebalance``, ``rescale`` or ``broadcast``.

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
    typical: tuple[str, ...] = field(
        default=(),
        metadata=entry(LABELS, "selectivity, if it is a guess", column="typical_streams"),
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
