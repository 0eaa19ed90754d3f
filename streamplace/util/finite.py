"""Numbers that JSON has."""

from math import isfinite


def finite(value: float) -> float | None:
    """Return a number, or None if it is infinite or not a number, which JSON does not have."""
    return float(value) if isfinite(value) else None
