"""Placements for policies to start from."""

from collections.abc import Iterable

import numpy as np

from streamplace.placers.base import Placer
from streamplace.placers.greedy import Greedy
from streamplace.placers.trivial import Random, Single
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.total_cost import TotalCost
from streamplace.scoring.registry import evaluator


def fast_placement(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the best placement of a few fast placers.

    Raises
    ------
    PlacementError
        If none finds a feasible one.
    """
    if not isinstance(problem.objective, Makespan):
        return Greedy()(problem, rng)
    from streamplace.placers.partition.metis import MetisRecursive  # noqa: PLC0415 - slow to load
    from streamplace.placers.scheduling.portfolio import portfolio  # noqa: PLC0415 - slow to load
    from streamplace.placers.scheduling.search import quick_placers  # noqa: PLC0415 - slow to load

    if isinstance(problem.objective, TotalCost):  # list schedulers plan schedules
        placers: Iterable[Placer] = (Single(), MetisRecursive(), Random())
    else:
        placers = quick_placers(problem)
    rows = portfolio(problem, rng, None, placers)
    return Placement(problem, rows[int(evaluator(problem).loss(rows).argmin())])
