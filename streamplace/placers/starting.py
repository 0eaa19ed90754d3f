"""Placements for policies to start from."""

import numpy as np

from streamplace.placers.registry import search_of_pass
from streamplace.placers.trivial import Greedy
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


def fast_placement(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the best placement of a few fast placers.

    Raises
    ------
    PlacementError
        If none finds a feasible one.
    """
    if not problem.objective.is_pass:
        return Greedy()(problem, rng)
    placement: Placement = search_of_pass("fast")(problem, rng)
    return placement
