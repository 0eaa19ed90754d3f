"""Distributions shown by the plots of a comparison."""

import numpy as np

from streamplace.util.arrays import Floats


def cumulative(values: Floats) -> tuple[Floats, Floats]:
    """Return the cumulative distribution of values, (N,), as the corners of its steps.

    Returns
    -------
    (M,) the distinct values, ascending, and (M,) for each the share of values up to it.
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return distinct, np.cumsum(counts) / counts.sum()


def shares_of_devices(used: Floats) -> Floats:
    """Return the share of graphs by number of devices used.

    Parameters
    ----------
    used
        (P, G), placers by graphs: whole numbers from 1.

    Returns
    -------
    (P, D): column d is for d + 1 devices; D is the largest number used.
    """
    max_devices = int(used.max())
    counts = [np.bincount(row.astype(np.int64), minlength=max_devices + 1)[1:] for row in used]
    shares: Floats = np.stack(counts) / used.shape[1]
    return shares
