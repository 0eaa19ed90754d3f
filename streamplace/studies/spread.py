"""Means and ranges of figures over seeds or repeats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from streamplace.studies.table import Cell

DIGITS = 3  # of a ratio in sentences


@dataclass(frozen=True)
class Spread:
    """The mean, the lowest and the highest of a figure over seeds or repeats."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self | None:
        """Return that of some values; None if there are none."""
        return cls(sum(values) / len(values), min(values), max(values)) if values else None

    def __str__(self) -> str:
        text = f"{self.mean:.{DIGITS}f}"
        return text if self.range is None else f"{text} ({self.range})"

    @property
    def range(self) -> str | None:
        """The lowest and the highest as text; None if they are equal in print."""
        low, high = f"{self.low:.{DIGITS}f}", f"{self.high:.{DIGITS}f}"
        return None if low == high else f"{low} to {high}"


def cell(spread: Spread | None) -> Cell:
    """Return the cell of a table: the mean, and the range as text."""
    return None if spread is None else (spread.mean, spread.range)
