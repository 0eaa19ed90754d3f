"""Shares of the variance of a result that are due to each of several independent inputs."""

from statistics import NormalDist

import numpy as np

from streamplace.util.arrays import Floats

BINS = 32  # of equal probability
MOST = 64  # inputs whose shares are computed; the others have a weaker correlation


def first_order_shares(normals: Floats, result: Floats) -> Floats:
    """Return the first-order Sobol index of each of N standard normal inputs, (N,).

    It is Var(E[result | z]) / Var(result) for the input z: the share by which the variance of the
    result is expected to fall once z is known (Sobol 1993; Saltelli et al. 2008, section 4.5). The
    conditional means are lines fitted to the draws in each of 32 bins of z, and the share is
    corrected for the variance that such fits explain by chance (ε², Kelley 1935). With more than 64
    inputs, the indices of those whose correlation with the result is weaker are 0.

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
    strength = np.abs(spread @ normals)
    for i in np.argsort(-strength, kind="stable")[:MOST]:
        unexplained = _unexplained(normals[:, i], spread)
        shares[i] = max(0.0, 1.0 - unexplained * (len(result) - 1) / total)
    return shares


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
