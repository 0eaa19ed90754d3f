"""The quality of several placements, some of which may have no score."""

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
    """Return the quality of each placement, (K,); -1 for a placement without a score.

    Raises
    ------
    SimulationError
        If no placement has a score.
    """
    rows = np.stack([placement.devices for placement in placements])
    scored = qualities_of_rows(problem, rows)
    if scored.max() == NO_SCORE:
        return evaluator(problem).quality(rows)  # raises the error that says why
    return scored


def qualities_of_rows(problem: Problem, rows: Ints) -> Floats:
    """Return the quality of placements, (K,) for (K, V) devices; -1 for one without a score."""
    return where_scored(evaluator(problem).quality, rows)


def where_scored(measure: Callable[[Ints], Floats], rows: Ints) -> Floats:
    """Return a measure of placements, (K,) for (K, V) devices; -1 where it cannot be computed.

    All are computed in one call; if that fails, one by one.
    """
    try:
        return measure(rows)
    except SimulationError:
        values = np.full(len(rows), NO_SCORE)
        for i, row in enumerate(rows):
            with suppress(SimulationError):
                values[i] = measure(row)[0]
        return values
