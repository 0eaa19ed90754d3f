"""Options after a name, ``name:key=value``, read as the types of a class's parameters."""

import inspect
from collections.abc import Mapping
from typing import Any

from streamplace.errors import UsageError
from streamplace.util.suggest import did_you_mean


def parameters_of(cls: type) -> dict[str, Any]:
    """Return the type of each parameter of a class; text where it has no annotation."""
    try:
        known = inspect.signature(cls, eval_str=True).parameters.values()
    except (NameError, TypeError, AttributeError):  # types that are known to checkers alone
        known = inspect.signature(cls).parameters.values()
    except ValueError:  # it tells no signature
        return {}
    named = (p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: str if p.annotation is p.empty else p.annotation for p in named}


def read_options(
    text: str, options: list[str], types: Mapping[str, Any], noun: str
) -> dict[str, Any]:
    """Return options, ``option=value``, converted to the types of those there are.

    Raises
    ------
    UsageError
        On an unknown option, one that stands twice, or a value of the wrong type.
    """
    options_read: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in types:
            there = f"; options are {', '.join(types)}" if types else "; it takes no options"
            there = there if key in types else did_you_mean(key, types) or there
            raise UsageError(f"{noun} {text!r}: {option!r} is no option=value{there}")
        if key in options_read:
            raise UsageError(f"{noun} {text!r}: {key} stands twice")
        options_read[key] = _converted(f"{noun} {text!r}: {key}", value, types[key])
    return options_read


def _converted(what: str, value: str, wanted: Any) -> Any:
    if wanted in (bool, bool | None):
        if value not in ("true", "false"):
            raise UsageError(f"{what} must be true or false")
        return value == "true"
    for kind in (int, float):
        if wanted in (kind, kind | None):
            try:
                return kind(value)
            except ValueError:
                number = "a whole number" if kind is int else "a number"
                raise UsageError(f"{what} must be {number}") from None
    if not value:
        raise UsageError(f"{what} is empty")
    return value
