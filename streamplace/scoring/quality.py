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
    found = qualities_of_rows(problem, rows)
    if found.max() == NO_SCORE:
        return evaluator(problem).quality(rows)  # raises the reason
    return found


def qualities_of_rows(problem: Problem, rows: Ints) -> Floats:
    """Return the quality of placements, (K,) for (K, V) devices; -1 for one without a score."""
    return where_scored(evaluator(problem).quality, rows)


def where_scored(figure: Callable[[Ints], Floats], rows: Ints) -> Floats:
    """Return a figure of placements, (K,) for (K, V) devices; -1 where it cannot be computed.

    One call computes all of them; only if it fails are they computed one by one.
    """
    try:
        return figure(rows)
    except SimulationError:
        found = np.full(len(rows), NO_SCORE)
        for i, row in enumerate(rows):
            with suppress(SimulationError):
                found[i] = figure(row)[0]
        return found
