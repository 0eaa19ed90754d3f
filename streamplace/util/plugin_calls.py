"""Calls of users' classes and functions, with options from text such as ``name:key=value``."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from streamplace.errors import UsageError
from streamplace.util.plugins import named_fault
from streamplace.util.suggest import valid_choices

LITERAL = inspect.Parameter.empty  # the type of an option without annotation


def made(text: str, found: Any, options: list[str], noun: str) -> Any:
    """Return an instance of the class `found`, made with its options; or `found` if not a class.

    Raises
    ------
    UsageError
        If the class has no such options, or its constructor raises an error.
    """
    is_class = isinstance(found, type)
    arguments = read_options(text, options, parameters_of(found) if is_class else {}, noun)
    if not is_class:
        return found
    with named_fault(noun, text, "its constructor failed"):
        return found(**arguments)


def check_call(text: str, found: object, noun: str, arguments: Sequence[str]) -> None:
    """Refuse an object that cannot be called with these positional arguments.

    Raises
    ------
    UsageError
        If the object is a class, cannot be called, or takes other arguments.
    """
    *first, last = arguments
    expected = f"a {noun} is called with {', '.join(first)} and {last}"
    if isinstance(found, type) or not callable(found):
        raise UsageError(f"{noun} {text!r}: {_kind(found)} is not a {noun}: {expected}")
    try:
        inspect.signature(found).bind(*arguments)
    except TypeError as error:
        raise UsageError(f"{noun} {text!r}: is not a {noun}: {expected}, but {error}") from None
    except ValueError:  # it has no signature
        pass


def _kind(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"


def parameters_of(cls: type) -> dict[str, Any]:
    """Return the type of each parameter of a class.

    Without an annotation it is `str` if the default value is text, and otherwise `LITERAL`: the
    type is then that of the value.
    """
    try:
        known = inspect.signature(cls, eval_str=True).parameters.values()
    except (NameError, TypeError, AttributeError):  # types imported for type checkers only
        known = inspect.signature(cls).parameters.values()
    except ValueError:  # it has no signature
        return {}
    named = (p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: _type_of(p) for p in named}


def _type_of(parameter: inspect.Parameter) -> Any:
    if parameter.annotation is not parameter.empty:
        return parameter.annotation
    return str if isinstance(parameter.default, str) else LITERAL


def read_options(
    text: str, options: list[str], types: Mapping[str, Any], noun: str
) -> dict[str, Any]:
    """Return options, each ``option=value``, converted to the types of the known options.

    An option that is true or false may stand alone: ``option`` is ``option=true``.

    Raises
    ------
    UsageError
        On an unknown or repeated option, a missing value, or a value of the wrong type.
    """
    options_read: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if key not in types:
            choices = valid_choices(key, tuple(types)) if types else "; it has no options"
            raise UsageError(f"{noun} {text!r}: unknown option {key!r}{choices}")
        if not equals and types[key] is bool:  # the option alone means true
            value = "true"
        elif not equals:
            raise UsageError(f"{noun} {text!r}: option {key!r} needs a value: {key}=VALUE")
        if key in options_read:
            raise UsageError(f"{noun} {text!r}: option {key!r} is repeated")
        options_read[key] = _converted(f"{noun} {text!r}: {key}", value, types[key])
    return options_read


def _converted(what: str, value: str, expected: Any) -> Any:
    if expected in (bool, bool | None):
        if value not in ("true", "false"):
            raise UsageError(f"{what} must be true or false (got {value!r})")
        return value == "true"
    for kind in (int, float):
        if expected in (kind, kind | None):
            try:
                return kind(value)
            except ValueError:
                number = "a whole number" if kind is int else "a number"
                raise UsageError(f"{what} must be {number} (got {value!r})") from None
    if not value:
        raise UsageError(f"{what} must not be empty")
    return _literal(value) if expected is LITERAL else value


def _literal(value: str) -> bool | int | float | str:
    """Return a value as a bool (true, false), int or float if it reads as one, else as text."""
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
