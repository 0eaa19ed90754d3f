"""Simulated annealing on the score itself, in chains from several starts."""

import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.greedy import Greedy
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import Annealer, Budget, check_limits, schedule
from streamplace.placers.search.climb import climb
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.scoring.registry import throughput_evaluator
from streamplace.util.arrays import Ints

CHANGES, CHANGES_A_UNIT = 100_000, 100  # tried where no limit is told
BETTER = 1.0 + 1e-6
PROBE = 2_000  # changes of the first chain, which tells how fast they go
FIRST = 100  # changes a unit of the next
DOUBLING = 4  # chains until they are twice as long
LONGEST = 20_000, 4_000  # changes of one chain, and those a unit: longer ones gain less than more
ANNEALED = 0.5  # of a budget, where single moves on the score follow
PATIENCE = 6  # times those changes may be planned without a better placement


@dataclass(frozen=True)
class Search:
    """Anneal chains of placements and return the best one seen.

    Chains set out from `start` if there is one, METIS's placements, a greedy one and everything on
    one device, in turn. They grow longer one by one, whatever the limit: with the same seed, a
    longer search repeats all of a shorter one but its last chain.

    Parameters
    ----------
    evaluations
        Changes tried, all chains together; 100,000 and 100 a unit unless told.
    seconds
        Wall time, if that is to be the limit. Answers then depend on the machine.
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_limits("search", self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement seen; it stops early at the bound."""
        budget = self._budget(problem)
        rows = starts(problem, rng, start)
        return best_of_chains(problem, rng, rows, budget)

    def _budget(self, problem: Problem) -> Budget:
        evaluations = self.evaluations
        if evaluations is None and self.seconds is None:
            evaluations = CHANGES + CHANGES_A_UNIT * problem.feasibility.unit_count
        return Budget(self.seconds, evaluations)


def starts(problem: Problem, rng: np.random.Generator, start: Placement | None) -> list[Ints]:
    """Return feasible placements to set out from, (V,) each: at least one.

    Raises
    ------
    PlacementError
        If none was found.
    """
    placers: tuple[Placer, ...] = (MetisRecursive(), Metis(), Greedy(), Single())
    found = [] if start is None else [feasible(problem, start.devices).devices]
    for placer in placers:
        with suppress(PlacementError):
            found.append(placer(problem, rng).devices)
    return found or [RoundRobin()(problem, rng).devices]


def best_of_chains(
    problem: Problem,
    rng: np.random.Generator,
    rows: list[Ints],
    budget: Budget,
    **rules: Any,
) -> Placement:
    """Anneal from each row, (V,), in turn, until the budget is spent or the bound reached.

    It ends too where many changes have found nothing better: small graphs are done then. Of
    several source rates each chain sees one, in turn. Where chains anneal something else than the
    score, single moves on the score follow while the budget lasts.

    Parameters
    ----------
    rules
        Fields of `sim.search.Instance` that limit moves: `current_device`, `migration_cost` and
        `migration_budget`.
    """
    scored = throughput_evaluator(problem)
    climbs = scored.climbs and not rules
    of_chains = budget.share(ANNEALED) if climbs else budget
    annealers = [Annealer(case, rng) for case in scored.cases]
    units, first_of = problem.feasibility.unit_count, problem.feasibility.first_of
    longest = LONGEST[0] + LONGEST[1] * units
    first = max(PROBE, FIRST * units)
    best, waited = 0.0, 0
    seen = list(rows)
    for number in count():
        left = of_chains.left()
        if left == 0:
            break
        grown = PROBE if number == 0 else int(first * 2 ** min(number / DOUBLING, 60))
        plan = schedule(min(left, grown, longest), units)
        begun = time.perf_counter()
        start = rows[number % len(rows)][first_of]
        annealer = annealers[number % len(annealers)]
        found = annealer.chain(annealer.instance._replace(**rules), start, plan)
        of_chains.charge(found.changes, time.perf_counter() - begun)
        seen.append(found.on[problem.feasibility.unit_of])
        waited += plan.steps
        if found.reached > best * BETTER:
            best, waited = found.reached, 0
        is_best = found.enough and len(annealers) == 1 and not scored.climbs
        if waited > PATIENCE * longest or is_best:
            break
    placements = [Placement(problem, row) for row in np.unique(np.stack(seen), axis=0)]
    chosen = placements[int(qualities(problem, placements).argmax())]
    return climb(problem, chosen, budget) if climbs else chosen
