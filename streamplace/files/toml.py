"""TOML text as values, with integers no longer than those of JSON."""

import tomllib
from typing import Any

MOST_BITS = 14_284
"""Of an integer: Python writes no more digits than 4,300, and reads no more but in hexadecimal."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    ValueError
        Saying what is wrong, in one line.
    """
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # Python's limit on digits
        raise ValueError("an integer has too many digits") from None
    _refuse_long_integers(value)
    return value


def _refuse_long_integers(value: dict[str, Any]) -> None:
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        match left.pop():
            case place, dict() as found:
                left += [(f"{place}.{key}" if place else key, one) for key, one in found.items()]
            case place, list() as found:
                left += [(f"{place}[{i}]", one) for i, one in enumerate(found)]
            case place, int() as number if number.bit_length() > MOST_BITS:
                message = f"an integer has too many digits: {number.bit_length()} bits"
                raise ValueError(f"{place}: {message}")
