"""Type checks for public arguments."""

from numbers import Integral, Real

from streamplace.errors import StreamplaceError, UsageError

Fault = type[StreamplaceError]
LETTERS_SHOWN = 40  # letters of what is refused


def check_type(what: str, value: object, kind: type, fault: Fault, instead: str = "") -> None:
    """Refuse what is not of a kind; `instead` says what to call."""
    if not isinstance(value, kind):
        more = f"; {instead}" if instead else ""
        wanted, got = kind.__name__, type(value).__name__
        raise fault(f"{what} must be {wanted}, not {got}{more}")


def check_number(what: str, value: object, fault: Fault) -> None:
    """Refuse what is no number: text and truth values are none, and what no float holds."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise fault(f"{what} must be a number (got {value!r:.{LETTERS_SHOWN}})")
    try:
        float(value)
    except OverflowError:
        raise fault(f"{what} is too large a number") from None


def check_str(what: str, value: object, fault: Fault) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise fault(f"{what} must be text (got {value!r:.{LETTERS_SHOWN}})")


def check_int(what: str, value: object, fault: Fault) -> None:
    """Refuse what is no whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise fault(f"{what} must be a whole number (got {value!r:.{LETTERS_SHOWN}})")


def check_seed(seed: int) -> None:
    """Refuse a seed that no random generator takes."""
    check_int("seed", seed, UsageError)
    if seed < 0:
        raise UsageError(f"seed must be at least 0 (got {seed})")
