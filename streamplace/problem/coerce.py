"""Operators and streams from plain tuples and mappings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from numbers import Real
from typing import Any, TypeVar

from streamplace.errors import GraphError
from streamplace.problem.columns import (
    OPERATOR_NUMBERS,
    SELECTIVITY,
    SELECTIVITY_SE,
    STREAM_PAYLOAD,
)
from streamplace.problem.operators import Operator, Stream
from streamplace.util.suggest import candidates

OperatorLike = Operator | tuple[Any, ...] | Mapping[str, Any]
"""An operator, a tuple of its fields such as ``("parse", 90_000, 2_500)``, or a mapping of them."""
StreamLike = Stream | tuple[Any, ...] | Mapping[str, Any]
"""A stream, a tuple of its fields such as ``("parse", "store", 0.5)``, or a mapping of them."""
Row = TypeVar("Row", Operator, Stream)

TEXT = ("name", "source", "target", "instance_of", "type", "meta_op", "partitioning")
MAPPINGS = {
    "resources": "names to amounts",
    "seconds_on": "kinds of devices to seconds",
    "scaling": "sigma and kappa to numbers",
    "key_shares": "keys to shares",
}
STREAM_NUMBERS = (SELECTIVITY, STREAM_PAYLOAD, SELECTIVITY_SE)
NUMBERS = {column.name for column in (*OPERATOR_NUMBERS, *STREAM_NUMBERS)}


def operator_of(i: int, row: OperatorLike) -> Operator:
    """Return the operator that row i describes.

    Raises
    ------
    GraphError
        On a missing or unknown field, too many values, or a value of the wrong type.
    """
    return row if isinstance(row, Operator) else _row(Operator, f"operators[{i}]", row)


def stream_of(i: int, row: StreamLike) -> Stream:
    """Return the stream that row i describes; see `operator_of`."""
    return row if isinstance(row, Stream) else _row(Stream, f"streams[{i}]", row)


def _row(cls: type[Row], where: str, row: object) -> Row:
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
    for name, value in values.items():
        _check(f"{where}.{name}", name, value)
    return cls(**values)


def _check(where: str, name: str, value: object) -> None:
    if name in TEXT and not isinstance(value, str):
        raise GraphError(f"{where}: must be text (got {value!r:.40})")
    # None is the default of a stream's payload; `column_of` refuses it for an operator's.
    is_default = name == "payload_bytes" and value is None
    if (
        name in NUMBERS
        and not is_default
        and (isinstance(value, bool) or not isinstance(value, Real))
    ):
        raise GraphError(f"{where}: must be a number (got {value!r:.40})")
    if name == "requires" and not are_labels(value):
        raise GraphError(f"{where}: must be a list of labels (got {value!r:.40})")
    if name in MAPPINGS and not isinstance(value, Mapping):
        raise GraphError(f"{where}: must be a mapping of {MAPPINGS[name]} (got {value!r:.40})")


def are_labels(value: object) -> bool:
    """Return whether a value is a collection of texts; text alone would be a label per letter."""
    if isinstance(value, str) or not isinstance(value, Collection):
        return False
    return all(isinstance(label, str) for label in value)
