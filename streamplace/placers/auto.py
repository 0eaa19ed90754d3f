"""The default placer: runs other placers, then searches from their results, in limited time."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from sim import work_clock
from streamplace.errors import PlacementError
from streamplace.placers.base import BOTH, BasePlacer, Found, Placer, ReportingPlacer
from streamplace.placers.contiguous import splits_well
from streamplace.placers.registry import ready_placer
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.balance import (
    FEW_PLACEMENTS,
    Prefer,
    balanced,
    balances,
    carries_all,
    check_prefer,
    may_spread,
    most_balanced,
    refuse_preference,
    settled,
)
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.placers.search.consolidate import AS_GOOD, consolidate, fewest_devices
from streamplace.placers.search.exhaustive import best_and_cheapest
from streamplace.placers.search.search import Climb
from streamplace.placers.starting import fast_placement
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator, qualities
from streamplace.scoring.score import ROUNDING

SECONDS = 1.0  # the time limit without any other limit
TRIES = (
    "greedy",
    "single",
    "metis-recursive-oracle",
    "metis-oracle",
    "metis-recursive-oracle:weights=utilisation",
    "metis-oracle:weights=utilisation",
    "fuser-oracle",
)
"""The placers to run, the fastest first."""
POLICY = "policy:samples=16"
"""The policy to run after them."""
TRIES_OF_LARGE = ("greedy", "multilevel", "metis:weights=utilisation", "single")
"""The placers to run first where operators x devices exceeds `MIDDLE`, alone above `LARGE`.

Partitioners that try every number of parts, and the fuser, whose time is quadratic in the graph,
take too long there.
"""
OF_PASSES = "contiguous"
"""The placer to run first on graphs of the firing rule ``all``."""
MIDDLE, LARGE = 2_000, 5_000  # operators x devices above which a graph is middle-sized, or large
STARTS = 4  # the second search starts from this many of the best placements
FIRST, SECOND = 0.5, 0.75  # each search's share of the remaining budget; consolidation follows
CLOSE = 1.0 - 1e-12  # share of the bound that counts as reaching it


@dataclass(frozen=True)
class Auto(ReportingPlacer):
    """Run several placers, search from their best placements, then balance or reduce devices.

    Where everything offered is carried, or an operator limits it that fills no device or link,
    ``balance`` lowers the largest utilisation, then the second largest, and so on (see `balance`).
    Otherwise, and with ``fewest``, the result has the fewest devices among placements within 0.1%
    of the best throughput, and among those the least traffic between devices. The search for
    throughput stops when a placement reaches the bound or, where not everything offered can be
    carried, is within 0.1% of it; the result is then, too. Where at most 30,000 placements differ
    by more than exchanges of equal devices, all are tried, and nothing is given up. Identical
    devices are used in the order of the cluster, unless there is an initial placement or `ties`
    prefers others.

    Under the makespan objective, the quick placers of `Search` are run. Where there are at most
    100,000 placements, all that the bounds do not rule out are tried, for up to half of the budget.
    Unless this proves the best placement, a search from the placers' results follows until the
    lower bound is reached, the budget is spent, or many changes have not helped.

    Under other objectives of a pass, such as the total cost, `Climb` runs with the same limits,
    without an initial placement from the best one of a few fast placers.

    Parameters
    ----------
    seconds
        Wall time in seconds, without the time to load libraries and weights; default `SECONDS`
        unless `evaluations` is set. It is asked between placers and within searches, so a placer
        that has begun ends. Results then depend on the machine.
    evaluations
        Number of changes that the searches may try: a limit that does not depend on the machine.
    prefer
        ``balance`` or ``fewest``; None: ``fewest`` with an initial placement, else ``balance``.
    """

    name: ClassVar[str] = "auto"
    takes_start: ClassVar[bool] = True
    seconds: float | None = None
    evaluations: int | None = None
    prefer: Prefer | None = None

    def __post_init__(self) -> None:
        check_limits(self.name, self.seconds, self.evaluations)
        check_prefer(self.name, self.prefer)

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the best placement, or raise the last placer's error if none found one.

        Raises
        ------
        UsageError
            Under an objective of a pass, if there is a preference.
        """
        refuse_preference(f"placer {self.name!r}", self.prefer, problem.objective)
        if (other := self.stand_in(problem.objective)) is not None:
            return other.run(problem, rng, start or fast_placement(problem, rng))
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        if problem.objective.is_pass:
            from streamplace.placers.scheduling.search import auto_pass  # noqa: PLC0415 - slow to load

            return auto_pass(problem, rng, start, budget)
        return Found(self._best(problem, rng, start, budget))

    def stand_in(self, objective: Objective) -> BasePlacer | None:
        """Return a climb under objectives of a pass of which no search here knows."""
        if objective.is_pass and objective.quantity not in BOTH:
            return Climb(self.evaluations, self.seconds)
        return None

    def _best(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> Placement:
        """Return the best placement of streams of tuples."""
        possible = evaluator(problem).best_possible
        wanted = inf if possible is None else possible * (CLOSE if possible >= 1.0 else AS_GOOD)
        placements = self._results(problem, rng, start, budget, wanted)
        if possible is None:
            return self._chosen(problem, start, placements)
        as_good = 1.0 - ROUNDING  # where all placements are tried, nothing is given up
        every = best_and_cheapest(problem, as_good, FEW_PLACEMENTS)
        placements += every
        if not every:
            placements = self._searched(problem, rng, start, placements, budget, wanted)
            reached = float(qualities(problem, placements).max())
            as_good = AS_GOOD
            if wanted <= reached < 1.0:  # what is given up may not add to what was not searched
                as_good = max(AS_GOOD, wanted / reached)
        if balances(self.prefer, start) and may_spread(problem, placements):
            best = balanced(problem, rng, placements, budget)
            if start is None:
                return settled(problem, [best.canonical(), best])
        else:
            best = consolidate(problem, rng, placements, budget, as_good)
        return best.canonical() if start is None else best

    def _chosen(
        self, problem: Problem, start: Placement | None, placements: list[Placement]
    ) -> Placement:
        """Return one of several placements."""
        if balances(self.prefer, start) and carries_all(problem, placements):
            return most_balanced(problem, placements)
        return fewest_devices(problem, placements)

    def _searched(
        self,
        problem: Problem,
        rng: np.random.Generator,
        start: Placement | None,
        placements: list[Placement],
        budget: Budget,
        wanted: float,
    ) -> list[Placement]:
        """Search as the placer `search` would alone, then from the best placements.

        Placements are added until one is as good as wanted.
        """
        known = list(placements)
        if qualities(problem, known).max() < wanted and _size(problem) <= LARGE:
            alone = deepcopy(rng)
            rows = starts(problem, alone, start)
            known.append(best_of_chains(problem, alone, rows, budget.share(FIRST), wanted))
        reached = qualities(problem, known)
        if reached.max() < wanted:
            rows = [known[i].devices for i in np.argsort(-reached, kind="stable")[:STARTS]]
            known.append(best_of_chains(problem, rng, rows, budget.share(SECOND), wanted))
        return known

    def _results(
        self,
        problem: Problem,
        rng: np.random.Generator,
        start: Placement | None,
        budget: Budget,
        wanted: float,
    ) -> list[Placement]:
        """Run the placers in turn until time is up or a placement is as good as wanted.

        Each placer returns what it would return alone with the same seed.
        """
        placements, failure = [] if start is None else [start], PlacementError("no placer was run")
        for placer in self._placers_for(problem):
            try:
                placements.append(placer(problem, deepcopy(rng), start))
            except PlacementError as error:
                failure = error
                continue
            if qualities(problem, placements[-1:])[0] >= wanted or budget.seconds_left() <= 0:
                break
        if not placements:
            raise failure
        return placements

    def _placers_for(self, problem: Problem) -> Iterator[Placer]:
        """Load and return the placers for a problem, one by one.

        Weights that cannot be read are an error, since the result would differ without them.
        """
        size = _size(problem)
        tries = () if size > LARGE else (*TRIES, POLICY)
        if size > MIDDLE:
            tries = tuple(dict.fromkeys((*TRIES_OF_LARGE, *tries)))
        for name in (OF_PASSES, *tries) if splits_well(problem) else tries:
            with work_clock.loading():
                placer = ready_placer(name)
            yield placer


def _size(problem: Problem) -> int:
    return len(problem.graph.names) * len(problem.cluster.devices)
