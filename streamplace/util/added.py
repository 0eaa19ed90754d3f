"""Dataclass fields added after version 0.2, which leave earlier hashes and files unchanged."""

from dataclasses import MISSING, Field, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ADDED = "added"


def added_field(default: Any) -> Any:
    """Return a dataclass field that `distinguishing_fields` leaves out if it is at its default."""
    return field(default=default, metadata={ADDED: True})


def distinguishing_fields(value: "DataclassInstance") -> list[Field[Any]]:
    """Return the fields of a dataclass that distinguish it from others, in order.

    These are all fields except added ones at their default, so that hashes, reprs and files stay
    the same as before those fields were added.
    """
    return [each for each in fields(value) if not _is_added_default(value, each)]


def _is_added_default(value: "DataclassInstance", each: Field[Any]) -> bool:
    if not each.metadata.get(ADDED) or each.default is MISSING:
        return False
    return bool(getattr(value, each.name) == each.default)
