"""Placements for policies to start from."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from streamplace.placers.base import Placer
from streamplace.placers.trivial import Greedy, Random, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator


def fast_placement(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the best placement of a few fast placers.

    Raises
    ------
    PlacementError
        If none finds a feasible one.
    """
    if not problem.objective.is_pass:
        return Greedy()(problem, rng)
    from streamplace.placers.partition.metis import MetisRecursive  # noqa: PLC0415 - slow to load
    from streamplace.placers.scheduling import portfolio, search  # noqa: PLC0415 - slow to load

    placers: Iterable[Placer] = (Single(), MetisRecursive(), Random())
    if problem.objective.quantity == "makespan":  # list schedulers plan schedules
        placers = chain(*search.quick_placers(problem))
    rows = portfolio.portfolio(problem, rng, None, placers)
    return Placement(problem, rows[int(evaluator(problem).loss(rows).argmin())])
