"""Numbers with how sure they are, from counters."""

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
    """A number, or why there is none.

    Parameters
    ----------
    value
        None where it is missing.
    error
        Standard error of the value; None where one interval alone was seen, and for bounds.
    how
        ``measured``; ``bound``: the value limits the number (`why` tells which side); ``missing``.
    why
        For people; empty if measured without reserve.
    """

    value: float | None
    error: float | None = None
    how: How = "measured"
    why: str = ""

    @classmethod
    def missing(cls, why: str) -> "Estimate":
        """Return what stands for a number that was not measured."""
        return cls(None, None, "missing", why)

    @property
    def known(self) -> float | None:
        """The value, if it was measured."""
        return self.value if self.how == "measured" else None

    def times(self, factor: float) -> "Estimate":
        """Return the estimate in another unit."""
        value = None if self.value is None else self.value * factor
        error = None if self.error is None else self.error * factor
        return Estimate(value, error, self.how, self.why)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        told: dict[str, Any] = {"how": self.how, "value": self.value, "standard_error": self.error}
        return {**told, "why": self.why} if self.why else told


def or_unknown(estimate: Estimate) -> float:
    """Return the value as operators and streams hold it."""
    return UNKNOWN if estimate.known is None else estimate.known


def sum_of(numbers: Iterable[float]) -> float:
    """Return a sum, which may be infinite: graphs refuse that."""
    try:
        return fsum(numbers)
    except OverflowError:
        return inf


def slope(y: Floats, x: Floats, why: str = "no tuples came in the time") -> Estimate:
    """Return how much y grows per x, from what both grew in each interval, (n,).

    The slope of least squares through the counters themselves: each is off by what was under way
    when it was read (a buffer half full, a pause not yet counted), and that averages out. What
    intervals differ by from the slope is taken apart into that, which the next interval takes back
    (their lag-1 covariance, negated), and what adds up; both have their share in the standard error
    (6/5 of a random walk's: what least squares make of one).

    Parameters
    ----------
    why
        What it means if x did not grow.
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
    if not 0 < squares < inf or not abs(both) < inf:  # almost nothing, or beyond all squares
        return Estimate.missing(why)
    value = both / squares
    off = y - value * x
    variance = float(off @ off) / (len(off) - 1)
    own = min(max(-float(off[1:] @ off[:-1]) / (len(off) - 1), 0.0), variance / 2)
    walk = variance - 2 * own
    error = sqrt(own / squares + 1.2 * walk * len(x) / (total * total))
    return Estimate(max(value, 0.0), error)


def balanced(
    rows: Sequence[tuple[Sequence[tuple[int, float]], Floats, float]], count: int, intervals: int
) -> tuple[Floats, Floats]:
    """Return what flowed on each stream, from sums of several streams.

    Parameters
    ----------
    rows
        ([(stream, factor), …], (n,) their sum in each interval, how far to trust it). Where sums
        contradict each other their squares, times the trust, are least.

    Returns
    -------
    flows
        (count, n).
    known
        (count,) whether the sums determine a stream.
    """
    matrix = np.zeros((len(rows), count))
    sums = np.zeros((len(rows), intervals))
    for r, (terms, told, trust) in enumerate(rows):
        for stream, factor in terms:
            matrix[r, stream] += factor * sqrt(trust)
        sums[r] = told * sqrt(trust)
    inverse = np.linalg.pinv(matrix, rcond=1e-9)
    fixed = inverse @ matrix  # the projection on what the rows tell
    known = np.abs(fixed - np.eye(count)).max(axis=1, initial=0.0) < 1e-6  # noqa: PLR2004 - rounding
    return inverse @ sums, known
