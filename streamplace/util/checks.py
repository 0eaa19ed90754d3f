"""What people hand to Python calls: one line where it is of another kind than is wanted."""

from numbers import Integral, Real

from streamplace.errors import StreamplaceError, UsageError

Fault = type[StreamplaceError]
SHOWN = 40  # letters of what is refused


def check_type(what: str, given: object, kind: type, fault: Fault, instead: str = "") -> None:
    """Refuse what is not of a kind; `instead` says what to call."""
    if not isinstance(given, kind):
        more = f"; {instead}" if instead else ""
        wanted, got = kind.__name__, type(given).__name__
        raise fault(f"{what} must be {wanted}, not {got}{more}")


def check_number(what: str, given: object, fault: Fault) -> None:
    """Refuse what is no number: text and truth values are none, and what no float holds."""
    if isinstance(given, bool) or not isinstance(given, Real):
        raise fault(f"{what} must be a number (got {given!r:.{SHOWN}})")
    try:
        float(given)
    except OverflowError:
        raise fault(f"{what} is too large a number") from None


def check_str(what: str, given: object, fault: Fault) -> None:
    """Refuse what is no text."""
    if not isinstance(given, str):
        raise fault(f"{what} must be text (got {given!r:.{SHOWN}})")


def check_int(what: str, given: object, fault: Fault) -> None:
    """Refuse what is no whole number."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise fault(f"{what} must be a whole number (got {given!r:.{SHOWN}})")


def check_seed(seed: int) -> None:
    """Refuse a seed that no random generator takes."""
    check_int("seed", seed, UsageError)
    if seed < 0:
        raise UsageError(f"seed must be at least 0 (got {seed})")
