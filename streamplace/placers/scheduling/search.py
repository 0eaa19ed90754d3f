"""The placers `search` and `auto` under the makespan objective."""

import numpy as np

from streamplace.errors import UnsuitableError
from streamplace.placers.base import Placer
from streamplace.placers.scheduling.annealing import best_of_passes
from streamplace.placers.scheduling.enumerative import Enumerative
from streamplace.placers.scheduling.lists import Cpop, Heft
from streamplace.placers.scheduling.passes import pass_evaluator
from streamplace.placers.scheduling.portfolio import PORTFOLIO, portfolio
from streamplace.placers.scheduling.sampled import CriticalPath
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import Prefer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

QUICK: tuple[Placer, ...] = (
    *PORTFOLIO,
    Heft(contention=True),
    Cpop(),
    CriticalPath(samples=10),
    Enumerative(),
)
"""The placers that `auto` runs, on large graphs only those of `PORTFOLIO`."""
LARGE = 5_000  # operators from which some of the quick placers take longer than the search


def search_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    budget: Budget,
    prefer: Prefer | None,
) -> Placement:
    """Anneal from a portfolio of placements; see `best_of_passes`.

    Raises
    ------
    UnsuitableError
        If there is a preference.
    PlacementError
        If no feasible placement was found.
    """
    _refuse_preference("search", prefer)
    scored = pass_evaluator(problem, "search")
    rows = portfolio(problem, rng, start)
    return Placement(problem, best_of_passes(scored, rng, rows, budget))


def auto_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    budget: Budget,
    prefer: Prefer | None,
) -> Placement:
    """Run the quick placers, and then anneal from their placements; see `best_of_passes`.

    Identical devices are used in the order of the cluster, unless there is an initial placement.

    Raises
    ------
    UnsuitableError
        If there is a preference.
    PlacementError
        If no feasible placement was found.
    """
    _refuse_preference("auto", prefer)
    scored = pass_evaluator(problem, "auto")
    placers = QUICK if len(problem.graph.names) < LARGE else PORTFOLIO
    rows = portfolio(problem, rng, start, placers)
    best = Placement(problem, best_of_passes(scored, rng, rows, budget))
    return best.canonical() if start is None else best


def _refuse_preference(placer: str, prefer: Prefer | None) -> None:
    if prefer is not None:
        raise UnsuitableError(
            f"placer {placer!r}: the preference {prefer!r} supports only throughput, not makespan"
        )
