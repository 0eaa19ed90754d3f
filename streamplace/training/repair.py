"""Repair of sampled placements that violate constraints."""

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

Rows = NDArray[np.int64]


def repaired(problem: Problem, rows: Rows, placed: Ints) -> tuple[Rows, Ints]:
    """Repair some rows of placements, (S, V), in the same way as placers do.

    Returns
    -------
    tuple
        (R,) the rows that could be repaired, and (R, V) their repaired placements.
    """
    if problem.feasibility.is_free:
        return rows, placed[rows]
    repairable, kept = [], []
    for s in rows:
        with suppress(PlacementError):
            kept.append(feasible(problem, placed[s]).devices)
            repairable.append(s)
    return np.array(repairable, dtype=np.int64), np.array(kept, np.int32).reshape(
        -1, placed.shape[1]
    )
