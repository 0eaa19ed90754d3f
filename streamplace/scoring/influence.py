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
    conditional means are those of the draws in 32 bins of z, and the share is corrected for the
    variance that the means of random bins have (ε², Kelley 1935). Indices of more than 64 inputs
    are 0 for those whose correlation with the result is weaker.

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
    edges = [NormalDist().inv_cdf(i / BINS) for i in range(1, BINS)]
    for i in np.argsort(-strength, kind="stable")[:MOST]:
        bins = np.searchsorted(edges, normals[:, i])
        count = np.bincount(bins, minlength=BINS)
        sums = np.bincount(bins, weights=spread, minlength=BINS)
        between = float(np.sum(sums * sums / np.maximum(count, 1)))
        used = np.count_nonzero(count)
        unexplained = (total - between) / (len(result) - used)
        shares[i] = max(0.0, 1.0 - unexplained * (len(result) - 1) / total)
    return shares
