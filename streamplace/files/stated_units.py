"""Numbers of files that are text with a unit, such as ``"8GB"``, as plain numbers."""

from contextlib import suppress
from copy import deepcopy
from typing import Any, cast

from pydantic import ValidationError

from streamplace.errors import UsageError
from streamplace.files.schema_fields import Place
from streamplace.util.units import kind_at, parsed


def without_units(value: Any, error: ValidationError) -> Any:
    """Return a copy of a JSON value in which numbers with units are plain numbers.

    Only fields whose names have a unit, such as ``memory_bytes``, are changed. The value itself is
    returned if there is nothing to change.

    Parameters
    ----------
    error
        What pydantic found in the value.
    """
    found: list[tuple[Place, float]] = []
    for fault in error.errors(include_url=False):
        place = _place_in(value, fault["loc"])
        kind = kind_at(place)
        text = fault["input"]
        if fault["type"] == "float_type" and kind and isinstance(text, str) and text[-1:].isalpha():
            with suppress(UsageError):
                found.append((place, parsed(text, kind)))
    plain = deepcopy(value) if found else value
    for place, number in found:
        inside: Any = plain
        for part in place[:-1]:
            inside = inside[part]
        inside[place[-1]] = number
    return plain


def _place_in(value: Any, place: Place) -> Place:
    """Return a place without the names of types in unions, which are no part of the value."""
    kept: list[int | str] = []
    for part in place:
        if isinstance(value, dict):
            is_inside = part in value
        else:
            is_inside = isinstance(value, list) and isinstance(part, int)
        if is_inside:
            kept.append(part)
            value = cast("Any", value)[part]
    return tuple(kept)
