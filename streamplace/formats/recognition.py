"""The format of a file, by its content, else by its name."""

import json
from collections.abc import Callable
from typing import Any

from streamplace.files.foreign import OURS
from streamplace.formats.format import Signs
from streamplace.formats.registry import format_named, formats

HEAD = 100_000
"""Characters at the beginning of a text in which its format is looked for."""


def kind_of_document(name: str, text: str) -> str | None:
    """Return the format of a text, which may be JSON; None if unknown.

    It may be one of streamplace, such as ``streamplace-graph``.

    Parameters
    ----------
    name
        The name of the file.
    """
    if not text.lstrip().startswith("{"):  # large lists of another format take long to parse
        return kind_of_text(name, text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return kind_of_text(name, text)
    own = str(value.get("format"))
    return own if own.startswith(OURS) else kind_of_value(value)


def kind_of_text(name: str, text: str) -> str | None:
    """Return the format of a text, by its content, else by the name of its file; None if unknown.

    Only by that name if the text is JSON, see `kind_of_value`.
    """
    head = text[:HEAD]
    return _first(lambda signs: signs.in_text(head)) or _first(lambda signs: signs.in_name(name))


def kind_of_value(value: Any) -> str | None:
    """Return the format of a JSON value of another program; None if unknown.

    The fields of a list's first object are called ``[].id``.
    """
    if isinstance(value, list):
        value = {"": value}
    if not isinstance(value, dict) or "format" in value:
        return None
    return _first(lambda signs: signs.in_value(value))


def makes(kind: str) -> str:
    """Return what `import` makes of files of a format: ``graph`` or ``cluster``."""
    return format_named(kind).makes


def _first(has: Callable[[Signs], bool]) -> str | None:
    return next((each.name for each in formats() if has(each.signs)), None)
