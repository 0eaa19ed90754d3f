"""Limits of the options of built-in families."""

from streamplace.errors import UsageError

MAX_SIZE = 10**6  # of an axis of a tensor


def check_range(what: str, value: float, largest: float, smallest: float = 1) -> None:
    """Raise UsageError for an option that is out of range."""
    if not smallest <= value <= largest:
        raise UsageError(f"{what} must be {smallest:g} to {largest:g} (got {value:g})")
