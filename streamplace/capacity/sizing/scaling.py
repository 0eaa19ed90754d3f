"""How the rate of an operator grows with its number of instances: a law, and the next number."""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.parallelism import Scaling
from streamplace.util.arrays import Floats

SAME = 1.0 - 1e-12  # share of a target that counts as the target


class Fitted(NamedTuple):
    """A fitted universal scalability law.

    Attributes
    ----------
    rate
        Tuples/s of a single instance.
    scaling
        The coefficients, for `Operator.scaling`.
    largest_error
        The largest relative error at the measured numbers.
    """

    rate: float
    scaling: Scaling
    largest_error: float


def fit_scaling(measured: Mapping[int, float]) -> Fitted:
    """Fit the universal scalability law by least squares of relative errors.

    The time per tuple of an instance, p / rate, is linear in 1, p - 1 and p (p - 1), with
    coefficients that are at least 0.

    Parameters
    ----------
    measured
        Number of instances -> tuples/s of all of them together.

    Raises
    ------
    UsageError
        If nothing was measured, or a number or a rate is not above 0.
    """
    counts, rates = _checked(measured)
    times = counts / rates
    columns = np.stack([np.ones_like(counts), counts - 1.0, counts * (counts - 1.0)], axis=1)
    found = _not_negative(columns / times[:, None])
    single, sigma, kappa = found
    error = float(np.abs(times / (columns @ found) - 1.0).max())
    shares = {"sigma": min(1.0, sigma / single), "kappa": min(1.0, kappa / single)}
    return Fitted(1.0 / single, Scaling(shares), error)


def next_count(measured: Mapping[int, float], target: float, least: int, most: int) -> int:
    """Return the number of instances to try next, or the number to stay with.

    It is the smallest number that is expected to carry the target, of those between the largest
    number that was measured below it and the smallest that was measured to carry it; the latter if
    there is no such number. A number is therefore never tried twice. `expected_rate` says what is
    expected.

    Parameters
    ----------
    measured
        Number of instances -> tuples/s of all of them together.
    target
        Tuples/s to carry.
    least, most
        Limits of the number.

    Raises
    ------
    UsageError
        If nothing was measured, or a number or a rate is not above 0.
    """
    counts, rates = _checked(measured)
    enough = [int(p) for p, rate in zip(counts, rates, strict=True) if rate >= target * SAME]
    short = [int(p) for p, rate in zip(counts, rates, strict=True) if rate < target * SAME]
    lowest = max([least, *(p + 1 for p in short)])
    highest = min([most + 1, *enough])
    for count in range(lowest, highest):
        if expected_rate(measured, count) >= target * SAME:
            return count
    return max(least, min(highest, most))


def expected_rate(measured: Mapping[int, float], count: int) -> float:
    """Return the rate that is expected of a number of instances that was not measured.

    Rates are expected to grow by a power of the number, from 0 to 1 (1 if one number was measured).
    The power is fitted to all numbers that were measured, and leads from the nearest of them.
    Between two of them, it interpolates.

    Parameters
    ----------
    measured
        Number of instances -> tuples/s of all of them together.
    count
        The number of instances.

    Raises
    ------
    UsageError
        If nothing was measured, a number or a rate is not above 0, or `count` is below 1.
    """
    counts, rates = _checked(measured)
    if count < 1:
        raise UsageError(f"count must be at least 1 (got {count})")
    power = 1.0
    if len(counts) > 1:
        power = float(np.clip(np.polyfit(np.log(counts), np.log(rates), 1)[0], 0.0, 1.0))
    logs = np.log(rates) + power * np.log(count / counts)
    below, above = np.flatnonzero(counts <= count), np.flatnonzero(counts > count)
    if not len(below) or not len(above):
        return float(np.exp(logs[below[-1] if len(below) else above[0]]))
    a, b = below[-1], above[0]
    part = np.log(count / counts[a]) / np.log(counts[b] / counts[a])
    return float(np.exp((1.0 - part) * logs[a] + part * logs[b]))


def _checked(measured: Mapping[int, float]) -> tuple[Floats, Floats]:
    """Return the numbers in increasing order and their rates."""
    if not measured:
        raise UsageError("measured: must not be empty")
    for count, rate in measured.items():
        if count < 1 or not 0 < rate < np.inf:
            raise UsageError(f"measured: must be above 0 (got {rate} with {count} instances)")
    pairs = sorted(measured.items())
    return np.array([p for p, _ in pairs], float), np.array([rate for _, rate in pairs], float)


def _not_negative(columns: Floats) -> Floats:
    """Return coefficients, (3,), at least 0, with which the columns come closest to 1.

    The first one is above 0. All sets of the others are tried.
    """
    best, least = np.zeros(3), np.inf
    for size in range(3):
        for chosen in combinations((1, 2), size):
            index = [0, *chosen]
            own = np.linalg.lstsq(columns[:, index], np.ones(len(columns)), rcond=None)[0]
            error = float(((columns[:, index] @ own - 1.0) ** 2).sum())
            if own.min() >= 0.0 and own[0] > 0.0 and error < least * SAME:
                best, least = np.zeros(3), error
                best[index] = own
    return best
