"""Type checks for public arguments."""

from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Integral, Real

from streamplace.errors import Fault, StreamplaceError, UsageError

ErrorType = type[StreamplaceError]
PLAIN = frozenset((int, float, type(None)))
MAX_SHOWN = 40  # characters of a refused value in a message
MAX_VALUE = 1e15  # beyond it, arithmetic overflows


def check_type(
    what: str,
    value: object,
    kind: type,
    error: ErrorType,
    instead: str = "",
    *,
    option: str = "",
) -> None:
    """Raise `error` unless a value is of a type; `instead` is the remedy in the message."""
    if not isinstance(value, kind):
        fault = f"{what} must be {kind.__name__}, not {type(value).__name__}"
        raise error(Fault(fault.lstrip(), option=option, remedy=instead))


def check_number(what: str, value: object, error: ErrorType, *, option: str = "") -> None:
    """Raise `error` unless a value is a number, but not a boolean, that fits into a float.

    Parameters
    ----------
    what
        The subject of the message; empty if `option` alone names the value.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        fault = f"{what} must be a number (got {value!r:.{MAX_SHOWN}})"
        raise error(Fault(fault.lstrip(), option=option))
    try:
        float(value)
    except OverflowError:
        raise error(Fault(f"{what} is too large for a float".lstrip(), option=option)) from None


def check_range(
    what: str, value: float, error: ErrorType, minimum: float = 0.0, maximum: float = MAX_VALUE
) -> None:
    """Raise `error` unless a value is a number in a range."""
    check_number(what, value, error)
    if not minimum <= value <= maximum:
        raise error(f"{what} must be {minimum:g} to {maximum:g} (got {value:g})")


def index_by_name(what: str, names: Sequence[str], error: ErrorType) -> dict[str, int]:
    """Return name -> index; raise `error`, with both places in the list `what`, on a duplicate."""
    index: dict[str, int] = {}
    for i, name in enumerate(names):
        if index.setdefault(name, i) != i:
            first = f"{what}[{index[name]}]"
            raise error(f"{what}[{i}].name: duplicate name {name!r}, see {first}; rename one")
    return index


def plain_number(value: object) -> object:
    """Return a number, such as a NumPy scalar, as Python's int or float; anything else as it is."""
    if type(value) in PLAIN or isinstance(value, bool) or not isinstance(value, Real):
        return value
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except OverflowError:  # `check_number` refuses it
        return value


def set_plain_numbers(value: object, names: Iterable[str]) -> None:
    """Replace the numbers in fields of a frozen dataclass by Python's; see `plain_number`.

    Others cannot be written as JSON.
    """
    for name in names:
        number = getattr(value, name)
        if type(number) not in PLAIN:
            object.__setattr__(value, name, plain_number(number))


def check_str(what: str, value: object, error: ErrorType, *, option: str = "") -> None:
    """Raise `error` unless a value is a string."""
    if not isinstance(value, str):
        fault = f"{what} must be a string (got {value!r:.{MAX_SHOWN}})"
        raise error(Fault(fault, option=option))


def check_int(what: str, value: object, error: ErrorType) -> None:
    """Raise `error` unless a value is a whole number, but not a boolean; `what` may be empty."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise error(f"{what} must be a whole number (got {value!r:.{MAX_SHOWN}})".lstrip())


def check_seed(seed: int) -> None:
    """Raise UsageError unless a seed is a whole number that is not negative."""
    check_int("seed", seed, UsageError)
    if seed < 0:
        raise UsageError(f"seed must be at least 0 (got {seed})")


def finite(value: float) -> float | None:
    """Return a number, or None if it is infinite or not a number, which JSON does not have."""
    return float(value) if isfinite(value) else None
