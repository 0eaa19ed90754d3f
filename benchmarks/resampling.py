"""Confidence intervals by resampling (Efron's bootstrap)."""

import numpy as np

from streamplace.util.arrays import Floats

RESAMPLES, COVERAGE = 2000, 0.95


def interval(differences: Floats, seed: int = 0) -> tuple[float, float]:
    """Return the 95% interval of the mean of paired differences of shape (N,)."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.quantile(
        differences[drawn].mean(axis=1), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    )
    return float(low), float(high)
