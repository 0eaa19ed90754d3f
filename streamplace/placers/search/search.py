"""Simulated annealing on the score, in chains from several initial placements."""

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

CHANGES, CHANGES_PER_UNIT = 100_000, 100  # tried by default: a constant, plus a number per unit
BETTER = 1.0 + 1e-6  # smallest factor that counts as an improvement
PROBE = 2_000  # changes of the first chain, which measures the time per change
FIRST = 100  # changes per unit from which later chains grow
DOUBLING = 4  # the length of chains doubles every this many chains
MAX_CHANGES = 20_000, 4_000  # of a chain, plus per unit; beyond, more chains gain more
ANNEALED = 0.5  # share of the budget for annealing when single moves on the score follow
PATIENCE = 6  # chains of maximum length without improvement after which to stop


@dataclass(frozen=True)
class Search:
    """Anneal chains of placements and return the best placement found.

    Chains start in turn from `start` (if any), METIS's placements, the greedy placement, and all
    operators on one device. Their lengths do not depend on the limit: with the same seed, a
    longer search repeats every chain of a shorter one except its last.

    Parameters
    ----------
    evaluations
        Changes tried by all chains together; default 100,000 plus 100 per unit.
    seconds
        Wall time in seconds, to limit the search by time. Results then depend on the machine.
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_limits("search", self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found; stop early at the bound."""
        budget = self._budget(problem)
        rows = starts(problem, rng, start)
        return best_of_chains(problem, rng, rows, budget)

    def _budget(self, problem: Problem) -> Budget:
        evaluations = self.evaluations
        if evaluations is None and self.seconds is None:
            evaluations = CHANGES + CHANGES_PER_UNIT * problem.feasibility.unit_count
        return Budget(self.seconds, evaluations)


def starts(problem: Problem, rng: np.random.Generator, start: Placement | None) -> list[Ints]:
    """Return feasible initial placements, (V,) each: at least one.

    Raises
    ------
    PlacementError
        If none was found.
    """
    placers: tuple[Placer, ...] = (MetisRecursive(), Metis(), Greedy(), Single())
    rows = [] if start is None else [feasible(problem, start.devices).devices]
    for placer in placers:
        with suppress(PlacementError):
            rows.append(placer(problem, rng).devices)
    return rows or [RoundRobin()(problem, rng).devices]


def best_of_chains(
    problem: Problem,
    rng: np.random.Generator,
    rows: list[Ints],
    budget: Budget,
    **rules: Any,
) -> Placement:
    """Anneal from each row, (V,), in turn, until the budget is spent or the bound is reached.

    The search also ends after many changes without improvement, which is typical of small graphs.
    With several source rates, each chain uses one of them, in turn. If the chains anneal a
    substitute for the score, single moves on the score itself follow while the budget lasts.

    Parameters
    ----------
    rules
        Fields of `sim.search.Instance` that limit moves: `current_device`, `migration_cost` and
        `migration_budget`.
    """
    scored = throughput_evaluator(problem)
    climbs = scored.climbs and not rules
    chain_budget = budget.share(ANNEALED) if climbs else budget
    annealers = [Annealer(case, rng) for case in scored.cases]
    units, first_of = problem.feasibility.unit_count, problem.feasibility.first_of
    max_changes = MAX_CHANGES[0] + MAX_CHANGES[1] * units
    first = max(PROBE, FIRST * units)
    best, waited = 0.0, 0
    candidates = list(rows)
    for number in count():
        left = chain_budget.left()
        if left == 0:
            break
        grown = PROBE if number == 0 else int(first * 2 ** min(number / DOUBLING, 60))
        plan = schedule(min(left, grown, max_changes), units)
        begun = time.perf_counter()
        start = rows[number % len(rows)][first_of]
        annealer = annealers[number % len(annealers)]
        chain = annealer.chain(annealer.instance._replace(**rules), start, plan)
        chain_budget.charge(chain.changes, time.perf_counter() - begun)
        candidates.append(chain.on[problem.feasibility.unit_of])
        waited += plan.steps
        if chain.reached > best * BETTER:
            best, waited = chain.reached, 0
        is_best = chain.enough and len(annealers) == 1 and not scored.climbs
        if waited > PATIENCE * max_changes or is_best:
            break
    placements = [Placement(problem, row) for row in np.unique(np.stack(candidates), axis=0)]
    chosen = placements[int(qualities(problem, placements).argmax())]
    return climb(problem, chosen, budget) if climbs else chosen
