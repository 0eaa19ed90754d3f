"""Shares of the variance of a result that are due to each of several independent inputs."""

from math import sqrt
from statistics import NormalDist

import numpy as np

from streamplace.util.arrays import Floats

BINS = 32  # of equal probability
MOST = 64  # inputs whose shares are computed; the others have a weaker correlation
CHANCE = 0.01  # probability with which any input without effect has a share


def first_order_shares(normals: Floats, result: Floats) -> Floats:
    """Return the first-order Sobol index of each of N standard normal inputs, (N,).

    It is Var(E[result | z]) / Var(result) for the input z: the share by which the variance of the
    result is expected to fall once z is known (Sobol 1993; Saltelli et al. 2008, section 4.5). The
    conditional means are lines fitted to the draws in each of 32 bins of z, and the share is
    corrected for the variance that such fits explain by chance (ε², Kelley 1935).

    Shares that could be due to chance are 0: the level grows with the number of inputs, so that
    with a probability of about 99% no input without effect has a share. With more than 64 inputs,
    those whose correlation with the result could be due to chance have none either.

    Parameters
    ----------
    normals
        (S, N) draws of the inputs.
    result
        (S,) result of each draw.
    """
    shares = np.zeros(normals.shape[1])
    spread = result - result.mean()
    total = float(spread @ spread)
    if total <= 0.0 or len(result) <= BINS:
        return shares
    # For an input without effect, this is standard normal whatever the distribution of the result.
    strength = np.abs(spread @ normals) / sqrt(total)
    tested = np.argsort(-strength, kind="stable")[:MOST]
    if len(strength) > MOST:
        tested = tested[strength[tested] > _quantile(2 * len(strength))]
    least = _chance_level(len(result), min(MOST, len(strength)))
    for i in tested:
        share = 1.0 - _unexplained(normals[:, i], spread) * (len(result) - 1) / total
        shares[i] = share if share > least else 0.0
    return shares


def _quantile(tests: int) -> float:
    """Return the standard normal deviation that any of several tests exceeds in 1 of 100 cases."""
    return NormalDist().inv_cdf(1.0 - CHANCE / tests)


def _chance_level(draws: int, inputs: int) -> float:
    """Return the share of `draws` that any of several inputs without effect rarely exceeds.

    The variance that lines in bins explain by chance has a χ² distribution, whose quantile is that
    of Wilson and Hilferty (1931).
    """
    freedom = min(2 * BINS, draws // 2) - 1
    part = 2.0 / (9.0 * freedom)
    excess = (1.0 - part + _quantile(inputs) * sqrt(part)) ** 3 - 1.0
    return excess * freedom / (draws - 1 - freedom)


def _unexplained(z: Floats, spread: Floats) -> float:
    """Return the variance of a result around lines fitted in bins of one input."""
    edges = [NormalDist().inv_cdf(i / BINS) for i in range(1, BINS)]
    bins = np.searchsorted(edges, z)
    count, of_z, of_result, squares, both = (
        np.bincount(bins, weights=weights, minlength=BINS)
        for weights in (None, z, spread, z * z, z * spread)
    )
    used = count > 2  # noqa: PLR2004 - a line through two points explains everything
    of_z, of_result, count = of_z[used], of_result[used], count[used]
    across = squares[used] - of_z * of_z / count
    slope = (both[used] - of_z * of_result / count) / across
    between = float(np.sum(of_result * of_result / count + slope * slope * across))
    return (float(spread @ spread) - between) / max(1, len(z) - 2 * int(used.sum()))
