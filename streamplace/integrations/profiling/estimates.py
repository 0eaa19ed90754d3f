"""Estimates from counters: slopes and flows with standard errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import Any, Literal

import numpy as np

from streamplace.problem.operators import UNKNOWN
from streamplace.util.arrays import Floats

How = Literal["measured", "bound", "missing"]


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, or the reason why it is missing.

    Parameters
    ----------
    value
        The number; None if it is missing.
    error
        Standard error of the value; None for bounds and for values from a single interval.
    how
        ``measured``; ``bound``: the number is at least or at most the value, as `why` says;
        ``missing``.
    why
        Why the number is missing or a bound; empty if it was measured.
    """

    value: float | None
    error: float | None = None
    how: How = "measured"
    why: str = ""

    @classmethod
    def missing(cls, why: str) -> "Estimate":
        """Return the estimate of a number that was not measured."""
        return cls(None, None, "missing", why)

    @property
    def known(self) -> float | None:
        """The value, if it was measured."""
        return self.value if self.how == "measured" else None

    def times(self, factor: float) -> "Estimate":
        """Return the estimate times a factor, for example in another unit."""
        value = None if self.value is None else self.value * factor
        error = None if self.error is None else self.error * factor
        return Estimate(value, error, self.how, self.why)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        values: dict[str, Any] = {
            "how": self.how,
            "value": self.value,
            "standard_error": self.error,
        }
        return {**values, "why": self.why} if self.why else values


def or_unknown(estimate: Estimate) -> float:
    """Return the measured value, or `UNKNOWN`."""
    return UNKNOWN if estimate.known is None else estimate.known


def sum_of(numbers: Iterable[float]) -> float:
    """Return a sum; infinite on overflow, which graphs reject."""
    try:
        return fsum(numbers)
    except OverflowError:
        return inf


def slope(y: Floats, x: Floats, why: str = "no tuples arrived during the measurement") -> Estimate:
    """Return the growth of y per x, from the increases (n,) of both in each interval.

    This is the least-squares slope through the counters themselves. Each counter has an error from
    work in progress when it was read (a half-full buffer, a pause not yet counted), which averages
    out. The residuals of the intervals are split into this error, which the next interval cancels
    (estimated by the negated lag-1 covariance), and a random walk, which accumulates. Both enter
    the standard error, the walk with the factor 6/5 of a least-squares fit.

    Parameters
    ----------
    why
        Reason for a missing estimate if x did not grow.
    """
    total = float(np.sum(x))
    if not len(x) or total <= 0:
        return Estimate.missing(why)
    if len(x) == 1:
        return Estimate(float(y[0]) / total)
    across, up = (np.concatenate(([0.0], np.cumsum(grown))) for grown in (x, y))
    with np.errstate(over="ignore", invalid="ignore"):
        across, up = across - across.mean(), up - up.mean()
        squares, both = float(across @ across), float(across @ up)
    if not 0 < squares < inf or not abs(both) < inf:  # underflow or overflow of squares
        return Estimate.missing(why)
    value = both / squares
    off = y - value * x
    variance = float(off @ off) / (len(off) - 1)
    reading_noise = min(max(-float(off[1:] @ off[:-1]) / (len(off) - 1), 0.0), variance / 2)
    walk = variance - 2 * reading_noise
    error = sqrt(reading_noise / squares + 1.2 * walk * len(x) / (total * total))
    return Estimate(max(value, 0.0), error)


def solve_flows(
    rows: Sequence[tuple[Sequence[tuple[int, float]], Floats, float]], count: int, intervals: int
) -> tuple[Floats, Floats]:
    """Return the flow on each stream, solved from sums over several streams.

    Parameters
    ----------
    rows
        ([(stream, factor), …], sum in each interval (n,), weight). Contradictory sums are solved
        by weighted least squares.

    Returns
    -------
    flows
        (count, n).
    known
        (count,) whether the sums determine the flow on a stream.
    """
    matrix = np.zeros((len(rows), count))
    sums = np.zeros((len(rows), intervals))
    for r, (terms, values, weight) in enumerate(rows):
        for stream, factor in terms:
            matrix[r, stream] += factor * sqrt(weight)
        sums[r] = values * sqrt(weight)
    inverse = np.linalg.pinv(matrix, rcond=1e-9)
    fixed = inverse @ matrix  # the projection on the row space
    known = np.abs(fixed - np.eye(count)).max(axis=1, initial=0.0) < 1e-6  # noqa: PLR2004 - rounding
    return inverse @ sums, known
