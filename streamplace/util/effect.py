"""Means over samples, with intervals by the bootstrap."""

from dataclasses import dataclass
from math import isnan
from typing import Self

import numpy as np

from streamplace.util.arrays import Floats

RESAMPLES = 2_000
SHARE = 0.95  # of the resampled means that the interval contains
FEWEST = 3  # members with an interval; that of two would be the two themselves
AT_ONCE = 200_000  # numbers that are resampled at once, which bounds the memory


def mean_intervals(values: Floats, seed: int = 0) -> Floats:
    """Return 95% intervals of the means over a sample, from a paired percentile bootstrap.

    All rows are resampled alike: a resample draws columns with replacement, as many as there are,
    and takes the mean of every row over them. An interval reaches from the 2.5% to the 97.5%
    quantile of these means (Efron and Tibshirani, An Introduction to the Bootstrap, section 13.3).

    Parameters
    ----------
    values
        (R, N): R quantities, each measured on the same N members of the sample.
    seed
        Seed of the resampling.

    Returns
    -------
    (R, 2), low and high. They are NaN for fewer than three members, which say hardly anything about
    the spread, and for rows with a value that is not finite.
    """
    rows, members = values.shape
    intervals = np.full((rows, 2), np.nan)
    finite = np.isfinite(values).all(axis=1)
    if members < FEWEST or not finite.any():
        return intervals
    rng = np.random.default_rng(seed)
    columns = np.ascontiguousarray(values[finite].T)
    block = max(1, AT_ONCE // columns.size)
    sizes = (min(block, RESAMPLES - begin) for begin in range(0, RESAMPLES, block))
    drawn = (columns.take(rng.integers(members, size=(size, members)), axis=0) for size in sizes)
    means = np.concatenate([some.mean(axis=1) for some in drawn])
    tail = (1 - SHARE) / 2
    intervals[finite] = np.quantile(means, [tail, 1 - tail], axis=0).T
    return intervals


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
        return f"{self.mean:.3f} ({self.interval or 'no interval'})"

    @property
    def interval(self) -> str | None:
        """The interval as text; None if there are fewer than three graphs, which have none."""
        return None if isnan(self.low) else f"{self.low:.3f} to {self.high:.3f}"

    def cell(self) -> tuple[float, str | None]:
        """Return the cell of a table: the mean, and the interval as text."""
        return self.mean, self.interval
