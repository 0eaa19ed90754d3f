"""Dataclass fields added after version 0.2, which change no earlier hash or file."""

from dataclasses import MISSING, Field, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_ADDED = "added"


def added_field(default: Any) -> Any:
    """Return a dataclass field that `telling_fields` leaves out where it is at its default."""
    return field(default=default, metadata={_ADDED: True})


def telling_fields(value: "DataclassInstance") -> list[Field[Any]]:
    """Return the fields of a dataclass that tell it from others, in order.

    They are all but the added ones at their default, so that what is computed from them (a hash, a
    repr, a file) stays as it was before those were added.
    """
    return [one for one in fields(value) if not _is_added_default(value, one)]


def _is_added_default(value: "DataclassInstance", one: Field[Any]) -> bool:
    if not one.metadata.get(_ADDED) or one.default is MISSING:
        return False
    return bool(getattr(value, one.name) == one.default)
