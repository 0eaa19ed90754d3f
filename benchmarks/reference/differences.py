"""Relative differences of numbers that should be equal."""

from collections.abc import Iterable
from math import isnan


def relative_difference(one: float, other: float) -> float:
    """Return the difference of two numbers, divided by the larger magnitude."""
    return 0.0 if one == other else abs(one - other) / max(abs(one), abs(other))


def largest_difference(differences: Iterable[float]) -> float:
    """Return the largest difference; 0 if there are none, NaN if one is NaN."""
    worst = 0.0
    for difference in differences:
        if not difference <= worst:
            worst = difference
        if isnan(worst):
            break
    return worst
