"""Operators and streams in rows, also from plain tuples and mappings, and the columns of rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from numbers import Real
from typing import Any, TypeVar

from streamplace.errors import GraphError
from streamplace.problem.fields import Detail, Field
from streamplace.problem.graph_checks import endpoints, index_of, own_payload
from streamplace.problem.operators import OPERATOR_FIELDS, STREAM_FIELDS, Operator, Stream
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_type
from streamplace.util.suggest import candidates

OperatorLike = Operator | tuple[Any, ...] | Mapping[str, Any]
"""An operator, a tuple of its fields such as ``("parse", 90_000, 2_500)``, or a mapping of them."""
StreamLike = Stream | tuple[Any, ...] | Mapping[str, Any]
"""A stream, a tuple of its fields such as ``("parse", "store", 0.5)``, or a mapping of them."""
Row = TypeVar("Row", Operator, Stream)
Values = Mapping[str, Any]
"""Attribute of `StreamGraph` -> (V,) or (E,) numbers, or index -> value for details."""


@dataclass(frozen=True)
class Columns:
    """The columns of a graph before they are checked.

    Attributes
    ----------
    index
        Operator name -> its index.
    ends
        (E, 2) operator indices, source and target of each stream.
    values
        See `Values`; None, and an absent attribute, stand for the default.
    """

    index: Mapping[str, int]
    ends: Ints
    values: Values


def columns_of_rows(operators: Iterable[OperatorLike], streams: Iterable[StreamLike]) -> Columns:
    """Return the columns of operators and streams in rows.

    Raises
    ------
    GraphError
        If a row, a name, an end or the payload of a stream is not valid.
    """
    check_type("operators:", operators, Iterable, GraphError)
    check_type("streams:", streams, Iterable, GraphError)
    steps = [row_of(Operator, f"operators[{i}]", row) for i, row in enumerate(operators)]
    edges = [row_of(Stream, f"streams[{i}]", row) for i, row in enumerate(streams)]
    index = index_of([o.name for o in steps])
    ends = endpoints([each.source for each in edges], [each.target for each in edges], index)
    own = {"stream_payload_bytes": [own_payload(i, s) for i, s in enumerate(edges)]}
    values = {field.column: _column(field, steps) for field in OPERATOR_FIELDS}
    values |= {field.column: _column(field, edges) for field in STREAM_FIELDS}
    return Columns(index, ends, values | own)


def _column(field: Field, rows: Sequence[Operator | Stream]) -> Any:
    """Return the values of a field: of all rows, or by index of those that have a detail."""
    name, default = field.name, field.default
    if isinstance(field.kind, Detail):
        values = ((i, getattr(row, name)) for i, row in enumerate(rows))
        return {i: value for i, value in values if value is not default}
    return [getattr(row, name) for row in rows]


def row_of(cls: type[Row], where: str, row: object) -> Row:
    """Return a row; refuse a missing or unknown field, and a value of the wrong type."""
    if isinstance(row, cls):
        return row
    known = [field.name for field in fields(cls)]
    if isinstance(row, Mapping):
        values = dict(row)
    elif isinstance(row, Sequence) and not isinstance(row, str):
        if len(row) > len(known):
            raise GraphError(f"{where}: expected at most {len(known)} values (got {len(row)})")
        values = dict(zip(known, row, strict=False))
    else:
        expected = f"sp.{cls.__name__}, a tuple or a mapping"
        raise GraphError(f"{where}: must be {expected}, not {type(row).__name__}")
    if unknown := [name for name in values if name not in known]:
        raise GraphError(f"{where}: unknown field {unknown[0]!r}{candidates(unknown[0], known)}")
    needed = [field.name for field in fields(cls) if field.default is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise GraphError(f"{where}: missing field {missing[0]!r}")
    several = OPERATOR_FIELDS if cls is Operator else STREAM_FIELDS
    described = {field.name: field for field in several}
    for name, value in values.items():
        _check_type(f"{where}.{name}", described.get(name), value)
    return cls(**values)


def _check_type(where: str, field: Field | None, value: object) -> None:
    """Refuse a value of the wrong type; names, which have no `Field`, are text."""
    if field is None:
        accepted, expected = isinstance(value, str), "text"
    elif isinstance(field.kind, Detail):
        accepted, expected = field.kind.accepts(value), field.kind.expected
    else:
        # None is the default of a stream's payload; `column_of` refuses it for an operator's.
        is_default = field.name == "payload_bytes" and value is None
        accepted = is_default or (isinstance(value, Real) and not isinstance(value, bool))
        expected = "a number"
    if not accepted:
        raise GraphError(f"{where}: must be {expected} (got {value!r:.40})")
