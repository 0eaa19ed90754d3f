"""Parser of TOML that refuses very long integers, as the parser of JSON does."""

import re
import tomllib
from typing import Any

MAX_BITS = 14_284
"""Largest length of an integer, in bits: Python converts at most 4,300 decimal digits."""

_PLACE = re.compile(r"(.*?) \(at line (\d+), column (\d+)\)")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    ValueError
        If it is not TOML; the message is one line with the place of the fault.
    """
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(_syntax_fault(" ".join(str(error).split()))) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # Python's limit on digits
        raise ValueError("an integer has too many digits") from None
    _refuse_long_integers(value)
    return value


def _syntax_fault(message: str) -> str:
    """Return tomllib's message with the place first."""
    match = _PLACE.fullmatch(message)
    place, reason = (f"line {match[2]} column {match[3]}: ", match[1]) if match else ("", message)
    return f"{place}not TOML: {reason[:1].lower()}{reason[1:]}"


def _refuse_long_integers(value: dict[str, Any]) -> None:
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        match left.pop():
            case place, dict() as found:
                left += [(f"{place}.{key}" if place else key, item) for key, item in found.items()]
            case place, list() as found:
                left += [(f"{place}[{i}]", item) for i, item in enumerate(found)]
            case place, int() as number if number.bit_length() > MAX_BITS:
                message = f"an integer has too many digits: {number.bit_length()} bits"
                raise ValueError(f"{place}: {message}")
