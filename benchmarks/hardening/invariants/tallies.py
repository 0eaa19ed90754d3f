"""Counts of what was tried of each invariant, and how far off it was at most."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, isnan

from benchmarks.hardening.counting import Count
from benchmarks.hardening.rows import Row

EXACT = 1e-9
VIOLATIONS, TOO_FEW = "violations", "too few"
MOST_SKIPPED = 0.2  # of all: more would say too little of what was tried


@dataclass
class Deviations(Count):
    """What was seen of one invariant.

    Parameters
    ----------
    most
        The largest deviation that is rounding.
    largest
        The largest deviation seen.
    skipped
        Problems of which it was not asked, by why.
    """

    most: float = EXACT
    largest: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.kinds = (VIOLATIONS,)

    @property
    def violations(self) -> int:
        """How often it did not hold."""
        return self.wrong[VIOLATIONS]

    def see(self, deviation: float) -> bool:
        """Count one try; return whether the invariant held."""
        self.tried += 1
        self.largest = max(self.largest, inf if isnan(deviation) else deviation)
        held = deviation <= self.most
        self.wrong[VIOLATIONS] += not held
        return held

    def skip(self, why: str) -> None:
        """Count one problem of which it is not asked; too many are a fault."""
        self.skipped[why] += 1
        self.kinds = (VIOLATIONS, TOO_FEW)

    def row(self) -> Row:
        """Return the line of the table."""
        self.figures = {"largest deviation": f"{self.largest:.1e}", **self.figures}
        skipped = self.skipped.total()
        if skipped > MOST_SKIPPED * (self.tried + skipped):
            self.wrong[TOO_FEW] = skipped
            self.tell(f"{skipped:,} of {self.tried + skipped:,} problems were skipped")
        self.figures |= {f"skipped: {why}": f"{n:,}" for why, n in sorted(self.skipped.items())}
        return super().row()


def apart(one: float, other: float, least: float = 0.0) -> float:
    """Return by how much two numbers differ, as a share of the larger one or of `least`."""
    if one == other:
        return 0.0
    return abs(one - other) / max(abs(one), abs(other), least)


def above(value: float, most: float) -> float:
    """Return by how much a value is above what it may be at most, as a share of that."""
    return max(0.0, value / most - 1.0) if most else (inf if value > 0 else 0.0)


def furthest(differences: Iterable[float]) -> float:
    """Return the largest difference, 0 of none; NaN where one is no number."""
    worst = 0.0
    for difference in differences:
        if not difference <= worst:
            worst = difference
        if isnan(worst):
            break
    return worst
