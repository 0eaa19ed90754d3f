"""The quality of several placements, of which some may have no score."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from streamplace.errors import SimulationError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

NO_SCORE = -1.0


def qualities(problem: Problem, placements: Sequence[Placement]) -> Floats:
    """Return the quality of each placement, (K,); -1 for one that has no score.

    Raises
    ------
    SimulationError
        If none has one.
    """
    rows = np.stack([placement.devices for placement in placements])
    found = qualities_of_rows(problem, rows)
    if found.max() == NO_SCORE:
        return evaluator(problem).quality(rows)  # which raises the reason
    return found


def qualities_of_rows(problem: Problem, rows: Ints) -> Floats:
    """Return the quality of each placement, (K,) of (K, V) devices; -1 for one without a score."""
    return where_scored(evaluator(problem).quality, rows)


def where_scored(figure: Callable[[Ints], Floats], rows: Ints) -> Floats:
    """Return a figure of placements, (K,) of (K, V) devices; -1 where it cannot be computed.

    All are computed in one call; one by one only if that fails.
    """
    try:
        return figure(rows)
    except SimulationError:
        found = np.full(len(rows), NO_SCORE)
        for i, row in enumerate(rows):
            with suppress(SimulationError):
                found[i] = figure(row)[0]
        return found
