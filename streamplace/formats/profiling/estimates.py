"""Estimates from counters: slopes and flows with standard errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum, hypot, inf, sqrt
from typing import Any, Literal

import numpy as np

from streamplace.problem.graph_checks import MAX_RELATIVE_ERROR
from streamplace.problem.operators import UNKNOWN
from streamplace.util.arrays import Floats

How = Literal["measured", "bound", "chained", "missing"]
MIN_INTERVALS = 3  # fewer say practically nothing about the spread
BY_CHANCE = 2.0  # lag-1 covariance of a walk that counts as chance, in variances / intervals
NO_TUPLES = "no tuples arrived during the measurement"
TOO_FEW = "the server's metrics changed fewer than two times; increase --seconds"
ABSENT = "the server did not report it"
ROUNDING = 1e-9  # relative standard errors up to this come from floating-point numbers
Z = 1.959963984540054  # quantile .975 of the normal distribution


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, or the reason why it is missing.

    Parameters
    ----------
    value
        The number; None if it is missing.
    error
        Standard error of the value; None for bounds and for values from fewer than 3 intervals.
    how
        ``measured``; ``bound``: the number is at least or at most the value, as `why` says;
        ``chained``: it is counted elsewhere, so that the value is 0; ``missing``.
    why
        Why the number is missing, a bound or counted elsewhere; empty if it was measured.
    intervals
        Number of intervals that the standard error was estimated from; 0 if unknown.
    """

    value: float | None
    error: float | None = None
    how: How = "measured"
    why: str = ""
    intervals: int = 0

    @classmethod
    def missing(cls, why: str) -> "Estimate":
        """Return the estimate of a number that was not measured."""
        return cls(None, None, "missing", why)

    @classmethod
    def chained(cls, why: str) -> "Estimate":
        """Return the estimate of a number that is counted elsewhere."""
        return cls(0.0, 0.0, "chained", why)

    @property
    def known(self) -> float | None:
        """The value, if it was measured or is counted elsewhere."""
        return self.value if self.how in ("measured", "chained") else None

    def times(self, factor: float) -> "Estimate":
        """Return the estimate times a factor, for example in another unit."""
        value = None if self.value is None else self.value * factor
        error = None if self.error is None else self.error * factor
        return replace(self, value=value, error=error)

    def over(self, other: "Estimate") -> "Estimate":
        """Return the estimate divided by one with an independent error."""
        if self.value is None or other.value is None:
            return self if self.value is None else other
        if other.value <= 0:
            return Estimate.missing(NO_TUPLES)
        ratio, intervals = self.value / other.value, [self.intervals, other.intervals]
        if self.error is None or other.error is None:
            return Estimate(ratio, how=self.how, why=self.why, intervals=min(intervals))
        error = hypot(self.error, ratio * other.error) / other.value
        return replace(self, value=ratio, error=error, intervals=min(intervals))

    @property
    def widened_error(self) -> float | None:
        """The standard error, widened because it was itself estimated from few intervals.

        It is multiplied by t / z, the quantiles .975 of Student's distribution, with one degree of
        freedom less than there are intervals, and of the normal distribution. An interval of 1.96
        times the result then covers the true value with probability .95.
        """
        if self.error is None or not self.intervals:
            return self.error
        return self.error * _student_t(self.intervals - 1) / Z

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


def or_exact(estimate: Estimate) -> float:
    """Return the widened standard error of a measured value; 0 if it has none but rounding."""
    error = 0.0 if estimate.known is None else estimate.widened_error or 0.0
    value = estimate.value or 0.0
    return min(error, MAX_RELATIVE_ERROR * value) if error > ROUNDING * value else 0.0


def _student_t(freedom: int) -> float:
    """Return the quantile .975 of Student's distribution, to 1% (Abramowitz and Stegun, 26.7.5)."""
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    return Z + fsum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


def sum_of(numbers: Iterable[float]) -> float:
    """Return a sum; infinite on overflow, which graphs reject."""
    try:
        return fsum(numbers)
    except OverflowError:
        return inf


def slope(y: Floats, x: Floats) -> Estimate:
    """Return the growth of y per x, from the increases (n,) of both in each interval.

    This is the least-squares slope through the counters themselves. Each counter has an error from
    work in progress when it was read (a half-full buffer, a pause not yet counted), which averages
    out. The residuals of the intervals are split into this error, which the next interval cancels
    (estimated by the negated lag-1 covariance, less what a pure walk may show by chance), and a
    random walk, which accumulates. Both enter the standard error, the walk with the factor 6/5 of a
    least-squares fit. With few intervals, reading errors may count as a walk, which makes the
    standard error too large, but a walk hardly ever counts as reading errors.
    There is none from fewer than three intervals.
    """
    total = float(np.sum(x))
    if not len(x) or total <= 0:
        return Estimate.missing(NO_TUPLES)
    if len(x) == 1:
        return Estimate(float(y[0]) / total)
    across, up = (np.concatenate(([0.0], np.cumsum(grown))) for grown in (x, y))
    with np.errstate(over="ignore", invalid="ignore"):
        across, up = across - across.mean(), up - up.mean()
        squares, both = float(across @ across), float(across @ up)
    if not 0 < squares < inf or not abs(both) < inf:  # underflow or overflow of squares
        return Estimate.missing(NO_TUPLES)
    value = both / squares
    off = y - value * x
    if len(off) < MIN_INTERVALS:
        return Estimate(max(value, 0.0))
    variance = float(off @ off) / (len(off) - 1)
    cancelled = -float(off[1:] @ off[:-1]) / (len(off) - 1) - BY_CHANCE * variance / len(off)
    reading_noise = min(max(cancelled, 0.0), variance / 2)
    walk = variance - 2 * reading_noise
    error = sqrt(reading_noise / squares + 1.2 * walk * len(x) / (total * total))
    return Estimate(max(value, 0.0), error, intervals=len(off))


def ratio(y: Floats, x: Floats) -> Estimate:
    """Return the growth of y per x, (n,), in the intervals where both are known; see `slope`."""
    if not len(x):
        return Estimate.missing(TOO_FEW)
    both = np.isfinite(y) & np.isfinite(x)
    return slope(y[both], x[both]) if both.any() else Estimate.missing(ABSENT)


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
