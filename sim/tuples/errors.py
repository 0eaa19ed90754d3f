"""Standard errors of the mean and of quantiles of latencies, which depend on each other."""

from math import ceil, hypot, sqrt

import numpy as np

from sim.flow import Floats

BATCHES = 20  # of successive latencies
LEAST = 10  # latencies in each of them
MOST_CORRELATION = 0.95  # of successive batches
MEDIAN = 0.5
ROUNDING = 1e-6  # of the number of tuples below a quantile


def summary(latencies_s: Floats, quantiles: dict[str, float]) -> dict[str, float]:
    """Return the mean and some quantiles: the smallest latencies that these shares do not exceed.

    Parameters
    ----------
    quantiles
        Name -> share.
    """
    mean = {"mean": float(latencies_s.mean())}
    return mean | {name: quantile(latencies_s, share) for name, share in quantiles.items()}


def quantile(latencies_s: Floats, share: float) -> float:
    """Return the smallest latency that a share of the tuples does not exceed."""
    at = _index(share, len(latencies_s))
    return float(np.partition(latencies_s, at)[at])


def standard_errors(latencies_s: Floats, quantiles: dict[str, float]) -> dict[str, float] | None:
    """Return the standard errors of `summary`, in seconds; None with fewer than 200 latencies.

    The error of the mean follows from the means of 20 batches of successive latencies (Law and
    Kelton, Simulation Modeling and Analysis, section 9.5). Near saturation, successive batches are
    still correlated, so their variance is multiplied by (1 + r) / (1 - r), with the correlation r
    of an autoregressive process of first order (Fishman, 1971). For a quantile, the same holds for
    the share of latencies that do not exceed it; its error is the larger distance to the quantiles
    of the share plus and minus its error (Woodruff, 1952). Above the median, the relative error
    of the mean is added in squares, since a run has few of the episodes in which the highest
    latencies occur, and these say little about the scale of all of them.
    """
    if len(latencies_s) < BATCHES * LEAST:
        return None
    ordered, count = np.sort(latencies_s), len(latencies_s)
    of_mean = _error(latencies_s)
    errors = {"mean": of_mean}
    relative = of_mean / float(latencies_s.mean()) if latencies_s.any() else 0.0
    for name, share in quantiles.items():
        at = float(ordered[_index(share, count)])
        of_share = _error((latencies_s <= at).astype(np.float64))
        low, high = (
            float(ordered[_index(min(max(one, 0.0), 1.0), count)])
            for one in (share - of_share, share + of_share)
        )
        of_scale = relative * at if share > MEDIAN else 0.0
        errors[name] = hypot(max(high - at, at - low), of_scale)
    return errors


def _error(values: Floats) -> float:
    """Return the standard error of the mean of successive values."""
    means = np.array([part.mean() for part in np.array_split(values, BATCHES)])
    apart = means - means.mean()
    total = float(apart @ apart)
    if total == 0.0:
        return 0.0
    bias = 1.0 / BATCHES  # of the correlation of independent values
    correlation = float(apart[1:] @ apart[:-1]) / total + bias
    correlation = min(max(correlation, 0.0), MOST_CORRELATION)
    inflated = (1.0 + correlation) / (1.0 - correlation)
    return sqrt(total / (BATCHES - 1) / BATCHES * inflated)


def _index(share: float, count: int) -> int:
    return min(max(ceil(share * count - ROUNDING) - 1, 0), count - 1)
