"""Effects: means over graphs with intervals."""

from dataclasses import dataclass
from math import isnan
from typing import Self

from streamplace.util.arrays import Floats
from streamplace.util.bootstrap import mean_intervals


@dataclass(frozen=True)
class Effect:
    """A mean over graphs, with its 95% interval from a paired bootstrap over the graphs."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the mean over a value for each graph, (G,)."""
        low, high = mean_intervals(values[None])[0]
        return cls(float(values.mean()), float(low), float(high))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.interval or 'one graph'})"

    @property
    def interval(self) -> str | None:
        """The interval as text; None if there is only one graph, which has none."""
        return None if isnan(self.low) else f"{self.low:.3f} to {self.high:.3f}"

    def cell(self) -> tuple[float, str | None]:
        """Return the cell of a table: the mean, and the interval as text."""
        return self.mean, self.interval
