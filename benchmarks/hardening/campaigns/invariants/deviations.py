"""Counts of the checks of an invariant, and its largest deviation."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, isnan

from benchmarks.hardening.harness.counts import Count
from benchmarks.hardening.harness.rows import Row

EXACT = 1e-9  # default tolerance: relative difference that counts as rounding
VIOLATIONS, TOO_FEW = "violations", "too few"
MAX_SKIPPED = 0.2  # fraction of all problems; if more are skipped, too few checks remain


@dataclass
class Deviations(Count):
    """The checks of one invariant.

    Parameters
    ----------
    tolerance
        The largest deviation that counts as rounding.
    largest
        The largest deviation so far.
    skipped
        The number of problems to which the invariant was not applied, by reason.
    """

    tolerance: float = EXACT
    largest: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.kinds = (VIOLATIONS,)

    @property
    def violations(self) -> int:
        """The number of violations."""
        return self.wrong[VIOLATIONS]

    def record(self, deviation: float) -> bool:
        """Count one check; return whether the invariant held."""
        self.tried += 1
        self.largest = max(self.largest, inf if isnan(deviation) else deviation)
        held = deviation <= self.tolerance
        self.wrong[VIOLATIONS] += not held
        return held

    def skip(self, why: str) -> None:
        """Count one problem to which the invariant is not applied; too many are a fault."""
        self.skipped[why] += 1
        self.kinds = (VIOLATIONS, TOO_FEW)

    def row(self) -> Row:
        """Return the row of the table."""
        self.figures = {"largest deviation": f"{self.largest:.1e}", **self.figures}
        skipped = self.skipped.total()
        if skipped > MAX_SKIPPED * (self.tried + skipped):
            self.wrong[TOO_FEW] = skipped
            self.add_fault(f"{skipped:,} of {self.tried + skipped:,} problems were skipped")
        self.figures |= {f"skipped: {why}": f"{n:,}" for why, n in sorted(self.skipped.items())}
        return super().row()


def relative_difference(one: float, other: float, least_divisor: float = 0.0) -> float:
    """Return the difference of two numbers, divided by the larger magnitude or `least_divisor`."""
    if one == other:
        return 0.0
    return abs(one - other) / max(abs(one), abs(other), least_divisor)


def relative_excess(value: float, limit: float) -> float:
    """Return the excess of a value over its limit, divided by the limit."""
    return max(0.0, value / limit - 1.0) if limit else (inf if value > 0 else 0.0)


def largest_difference(differences: Iterable[float]) -> float:
    """Return the largest difference; 0 if there are none, NaN if one is NaN."""
    worst = 0.0
    for difference in differences:
        if not difference <= worst:
            worst = difference
        if isnan(worst):
            break
    return worst
