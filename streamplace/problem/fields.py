"""Fields of operators and streams: what each holds, how it is checked, stored and expanded.

The dataclasses `Operator` and `Stream` are the tables of these fields. The columns of graphs, all
file formats, the expansion into instances and the hash of a graph follow from them.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass
from functools import partial
from math import inf
from typing import Any, Literal

from streamplace.errors import GraphError
from streamplace.problem.parallelism import (
    KeyShares,
    Scaling,
    count_of,
    parallelism_of,
    partitioning_of,
    partitions_of,
)
from streamplace.problem.resources import Resources, whole_amounts
from streamplace.problem.seconds import Seconds
from streamplace.util.added import ADDED
from streamplace.util.checks import check_int, check_str

MIN_SPEED = 1e-9  # for MIPS and Mbit/s; below it arithmetic overflows
MAX_MEMORY_BYTES = 1e30

MAX_CORES = 1_000_000
"""The largest number of cores of a device, and that an operator can use."""

MAX_SIZE = 2**63 - 1
"""The largest size of an axis of an operator's output."""

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
        Its meaning, with the unit, in schemas of files.
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


def check_text(what: str, text: str) -> str:
    """Return text; refuse a value that is not text, or text that cannot be encoded."""
    check_str(f"{what}:", text, GraphError)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GraphError(f"{what}: is not valid unicode text") from None
    return text


def are_labels(value: object) -> bool:
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
    if value and not are_labels(value):
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


def is_text(value: object) -> bool:
    """Return whether a value is text."""
    return isinstance(value, str)


TEXT = Detail(check_text, is_text, "text")
OWNER = Detail(_text_or_none, is_text, "text")
LABELS = Detail(_labels_of, are_labels, "a list of labels", "list of labels")
AMOUNTS = _mapping(Resources, "names to amounts", '{"gpu": 1}')
SECONDS = _mapping(Seconds, "kinds of devices to seconds", '{"gpu": 0.001}')
SHAPE = Detail(_shape_of, text="list of sizes")
COUNT = Detail(count_of)
PARALLELISM = Detail(parallelism_of)
PARTITIONS = Detail(partitions_of)
SCALING = _mapping(Scaling, "sigma and kappa to numbers", '{"sigma": 0.02}')
PARTITIONING = Detail(partitioning_of, is_text, "text")
KEY_SHARES = _mapping(KeyShares, "keys to shares", '{"berlin": 0.2}')
