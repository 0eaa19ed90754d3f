"""The default placer: runs other placers, then searches from their results, in limited time."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import BOTH, BasePlacer, Found, Placer, ReportingPlacer
from streamplace.placers.budget import DEFAULT_SECONDS, Budget, budget_of, check_limits
from streamplace.placers.exact.decision import DecisionProblem, Incumbent, is_small
from streamplace.placers.registry import NAMES, class_of, placer_of
from streamplace.placers.search.annealing import COARSEST
from streamplace.placers.search.balance import (
    CARRIED,
    FEW_PLACEMENTS,
    Prefer,
    balanced,
    balances,
    carries_all,
    check_prefer,
    linear_problem,
    may_spread,
    most_balanced,
    overloaded,
    refuse_preference,
    settled,
)
from streamplace.placers.search.chains import CONTIGUOUS, best_of_chains, splits_well
from streamplace.placers.search.consolidate import (
    AS_GOOD,
    consolidate,
    fewest_devices,
    proven_fewest,
)
from streamplace.placers.search.exhaustive import best_and_cheapest
from streamplace.placers.search.pool import Pool
from streamplace.placers.starting import fast_placement, first_row
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator, qualities, throughput_evaluator
from streamplace.scoring.score import ROUNDING
from streamplace.sim import work_clock

POLICY = "policy:samples=16"
TRIES = {
    "single": (0.0, 1),
    "greedy": (0.2, 1),
    "metis-recursive-oracle:weights=utilisation": (20.0, 1),
    "metis-sweep": (230.0, 1),
    "fuser-oracle": (0.2, 2),
    POLICY: (180.0, 1),
}
"""The placers to run first, if their cost permits: the factor and the power in factor * size^power
* devices, where the size is the number of operators and streams. That many changes of a search take
as long, measured on graphs of 50 to 3,000 operators and 8 to 64 devices. Those that are not
installed, such as `policy` without its package, are left out."""
# Share of the budget that one of them may take, because placers cannot be interrupted; a guess.
SHARE_OF_TRY = 0.1
# A constant, so that the choice of placers does not depend on the machine: about twice the 100 ns
# of a change on the benchmark's graphs.
CHANGE_S = 2e-7  # seconds that a change counts for in this choice
# Chains from METIS's placements as well carried .00005 less on 100 released graphs.
STARTS = 4  # chains start from this many of the best placements
# The rest is for balancing or consolidation. Under `path-average`, the pool lowers loads, which
# only approaches the score, so that half is kept for chains on the score itself.
SEARCH, CHAINS = 0.85, 0.5  # shares of what is left for the search, and before chains
AT_THE_BOUND = 1.0 - 1e-12  # share of the bound that counts as reaching it; less is rounding
# A proof needs a placement that is nearly the best; on small graphs, few changes find one.
BEFORE_PROOF = 500  # changes per unit of the search before a proof is first tried
# About half a second, where the bounds take some ten to 200 ms (docs/results/search.md, "Bounds").
WORTH_BOUNDS = 2_000_000  # changes that may follow from which better bounds are worth their time
# A branch and bound over more hardly ever ends within a second; a guess, not tuned.
FEW_UNITS = 45  # units that may be left once those that no better placement separates are joined
# Most proofs take few nodes or never end, so that the first tries are short and each is as long as
# all before.
NODES = 10_000  # of the first branch and bound; later ones have twice as many as the last
FEWEST_NODES = 100  # below, a proof is not worth its tables
# Changes of a search that take the time of a node, about; for limits without a clock.
CHANGES_PER_NODE = 50
# For answers that must not depend on the machine. Guesses: they take 46 to 70 ms of CPU time on
# three problems of 100 to 1,000 operators, so that `DEFAULT_SECONDS` find more.
EVALUATIONS, PER_OPERATOR = 200_000, 400  # changes
MAX_EVALUATIONS = 4_000_000  # at most: a few seconds on 100,000 operators


def evaluations_by_default(operators: int) -> int:
    """Return a limit of changes, for so many operators, where no clock is to decide the answer."""
    return min(EVALUATIONS + PER_OPERATOR * operators, MAX_EVALUATIONS)


@dataclass(frozen=True)
class Auto(ReportingPlacer):
    """Run several placers, search from their best placements, then balance or reduce devices.

    The search (`pool`) ends with the budget, at the bound, or with a proof that no placement is
    better; with ``fewest``, also once everything offered is carried. Where at most 30,000
    placements differ by more than exchanges of equal devices, all are tried instead, and no other
    placer runs.

    Where everything offered is carried, or an operator limits it that fills no device or link,
    ``balance`` then lowers the largest utilisation, the second largest, and so on (see `balance`).
    Otherwise, and with ``fewest``, the result has the fewest devices among the best placements, and
    among those the least traffic between devices. If ``fewest`` is asked for and not all placements
    are tried, those within 0.1% of the best throughput are as good. Identical devices are used in
    the order of the cluster, unless there is an initial placement or `ties` prefers others.

    Under the makespan objective, the quick placers of `Search` are run. Where there are at most
    100,000 placements, all that the bounds do not rule out are tried, for up to half of the budget.
    Unless this proves the best placement, a search from the placers' results follows until the
    lower bound is reached, the budget is spent, or many changes have not helped. Such a search runs
    on all devices and on the first 1, 2, 3, 4, 6, 8, 12, … of them.

    Under other objectives of a pass, such as the total cost, `Climb` runs with the same limits, or
    with its own without any; without an initial placement, from the best one of a few fast placers.
    Total costs on two devices, and of few placements, are then proven.

    Parameters
    ----------
    seconds
        Wall time in seconds, without the time to load libraries and weights; without any limit,
        `DEFAULT_SECONDS` of CPU time. It is asked between placers and within searches, so a placer
        that has begun ends. Results then depend on the machine.
    evaluations
        Number of changes that the searches may try: a limit that does not depend on the machine.
        Under the makespan objective, it is one for each number of devices.
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
        """Return the best placement.

        Raises
        ------
        PlacementError, InfeasibleError
            If no feasible placement was found, or none exists.
        UsageError
            Under an objective of a pass, if there is a preference.
        """
        other = self.stand_in(problem.objective)
        refuse_preference(f"placer {self.name!r}", self.prefer, problem.objective)
        if other is not None:
            if (climbed := problem.objective.function("climbed")) is not None:
                cheap: Found = climbed(problem, rng, start, other)
                return cheap
            return other.run(problem, rng, start or fast_placement(problem, rng))
        search: Callable[..., Found] = problem.objective.function("auto") or self._best
        with budget_of(self.seconds, self.evaluations) as budget:
            return search(problem, rng, start, budget)

    def stand_in(self, objective: Objective) -> BasePlacer | None:
        """Return a climb under objectives of which no search here knows."""
        if objective.quantity not in BOTH:
            climb: Callable[..., BasePlacer] = class_of("climb")
            return climb(self.evaluations, self.seconds)
        return None

    def _best(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> Found:
        """Return the best placement of streams of tuples, and a bound if one was proven."""
        # No bound is known, as with the engine, which is slow: `bottleneck` is searched instead.
        if evaluator(problem).best_possible is None:
            return Found(self._by_runs(problem, rng, start, budget))
        bound = fewest = None
        every = best_and_cheapest(problem, 1.0 - ROUNDING, FEW_PLACEMENTS)
        # Trying all placements is exact, so that no other placer and no search is needed.
        if every:
            placements = every if start is None else [start, *every]
            if problem.objective.follows_loads:
                reached = float(qualities(problem, every).max())
                bound = problem.source_rate * reached
                if reached >= CARRIED:
                    fewest = len(np.unique(every[-1].devices))
        else:
            placements = self._results(problem, rng, start, budget)
            if self.prefer is None and start is None:
                fewest = proven_fewest(problem, placements)
            found, bound = self._searched(problem, rng, start, placements, budget)
            placements += found
        proven = True if bound is not None and not every else None
        balancing = balances(self.prefer, start)
        if balancing and may_spread(problem, placements):
            best = balanced(problem, rng, placements, budget, search=False)
            # Nothing runs on these devices yet, so that equal ones may be exchanged.
            if start is None:
                chosen = settled(problem, [best.canonical(), best])
                used = len(np.unique(chosen.devices))
                # A user who states a preference knows of the other one and needs no advice.
                if self.prefer is not None or (fewest is not None and fewest >= used):
                    fewest = None
                return Found(chosen, bound, proven, fewer_devices=fewest)
        else:
            # Where all placements were tried, no throughput is given up for fewer devices.
            as_good = 1.0 - ROUNDING if every else self._as_good
            best = consolidate(problem, rng, placements, budget, as_good)
        return Found(best.canonical() if start is None else best, bound, proven)

    def _by_runs(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> Placement:
        """Return the best of the placers' placements and of the one found under ``bottleneck``.

        Its score is not below that of the latter.
        """
        aim = problem.throughput_objective.with_changes(model="bottleneck")
        alike = problem.with_objective(aim)
        begin = None if start is None else Placement(alike, start.devices)
        most = budget.within(SEARCH * budget.seconds_left())
        by_form = self._best(alike, deepcopy(rng), begin, most).placement
        closed = Placement(problem, by_form.devices)
        chosen = self._chosen(problem, start, [closed, *self._results(problem, rng, start, budget)])
        # Searches ask for quick runs; by the exact score, that of the closed form may be better.
        if not throughput_evaluator(problem).scores_differ or chosen == closed:
            return chosen
        score, least = evaluator(problem).score, self._as_good
        if score(chosen.devices).quality >= least * score(closed.devices).quality:
            return chosen
        return closed

    @property
    def _as_good(self) -> float:
        """The share of the best throughput that is as good."""
        return AS_GOOD if self.prefer == "fewest" else 1.0 - ROUNDING

    def _chosen(
        self, problem: Problem, start: Placement | None, placements: list[Placement]
    ) -> Placement:
        if balances(self.prefer, start) and carries_all(problem, placements):
            return most_balanced(problem, placements)
        return fewest_devices(problem, placements, self._as_good)

    def _searched(
        self,
        problem: Problem,
        rng: np.random.Generator,
        start: Placement | None,
        placements: list[Placement],
        budget: Budget,
    ) -> tuple[list[Placement], float | None]:
        """Return placements that searches find, and a bound on the throughput if one is proven."""
        plain = problem.objective.follows_loads
        linear = plain and problem.model == "bottleneck"
        coarsens = problem.feasibility.unit_count > COARSEST * len(problem.cluster.devices)
        found: list[Placement] = []
        bound = None
        # On few units, annealing the score itself costs no more than the pool, and is not a
        # substitute.
        if linear or (plain and coarsens):
            aimed = linear_problem(problem, problem.source_rate)
            if balances(self.prefer, start):
                # Placements that carry everything differ in headroom, which shows at a rate that
                # none carries.
                aimed = overloaded(problem)
            pool = Pool(aimed, rng, reports=linear)
            for placement in placements:
                pool.add(Placement(aimed, placement.devices))
            share = budget.share(SEARCH if linear else CHAINS)
            proven = _search(pool, share)
            bound = proven if linear else None  # others may carry more than `aimed` does
            found = [Placement(problem, one.devices) for one in pool.placements]
        # What the pool found is best for loads; chains on the score itself follow.
        if not linear:
            known = [*placements, *found]
            order = np.argsort(-qualities(problem, known), kind="stable")[:STARTS]
            rows = [known[i].devices for i in order.tolist()]
            found.append(best_of_chains(problem, rng, rows, budget.share(SEARCH)))
        return found, bound

    def _results(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None, budget: Budget
    ) -> list[Placement]:
        """Run the placers that are quick enough until time is up.

        Each placer returns what it would return alone with the same seed. The best possible
        placement ends this, so that an initial one is left alone, unless headroom or the number of
        devices matters.
        """
        placements = [] if start is None else [start]
        possible = evaluator(problem).best_possible
        matters = balances(self.prefer, start) or (self.prefer == "fewest" and start is None)
        wanted = inf if possible is None or matters else possible * AT_THE_BOUND
        for placer in self._placers_for(problem, budget):
            try:
                placements.append(placer(problem, deepcopy(rng), start))
            except PlacementError:
                continue
            if budget.seconds_left() <= 0 or qualities(problem, placements[-1:])[0] >= wanted:
                break
        return placements or [Placement(problem, first_row(problem))]

    def _placers_for(self, problem: Problem, budget: Budget) -> Iterator[Placer]:
        """Load and return the placers for a problem, one by one.

        Weights that cannot be read are an error, since the result would differ without them.
        """
        size = len(problem.graph.names) + len(problem.graph.stream_source)
        devices = len(problem.cluster.devices)
        seconds = DEFAULT_SECONDS if budget.seconds is None else budget.seconds
        most = SHARE_OF_TRY * seconds / CHANGE_S
        names = [
            name
            for name, (factor, power) in TRIES.items()
            if factor * size**power * devices <= most and name.partition(":")[0] in NAMES
        ]
        for name in (CONTIGUOUS, *names) if splits_well(problem) else names:
            with work_clock.loading():
                placer = placer_of(name)
            yield placer


def _search(pool: Pool, budget: Budget) -> float | None:
    """Search with a pool and, at growing intervals, for a proof that no placement is better.

    Returns
    -------
    The throughput in tuples/s that no placement exceeds, if that is proven.
    """
    changes, nodes = BEFORE_PROOF * pool.problem.feasibility.unit_count, NODES
    provable = is_small(pool.problem)
    pool.search(budget.up_to(changes))
    if not pool.enough and budget.left() >= WORTH_BOUNDS:
        pool.tighten()
    while provable and not pool.enough and budget.left() > 0:
        incumbent = Incumbent(pool.problem, pool.placements[0])
        decision = DecisionProblem(pool.problem, incumbent.rate_to_beat)
        if len(decision.instance.work) > FEW_UNITS:
            break
        nodes = min(nodes, budget.left() // (3 * CHANGES_PER_NODE))  # a third of the time at most
        if nodes < FEWEST_NODES:
            break
        begun = work_clock.now()
        outcome = decision.search(nodes, budget)
        budget.charge(nodes * CHANGES_PER_NODE, work_clock.now() - begun)
        if outcome.proven:
            incumbent.none_reaches(decision.rate)
            return incumbent.bound
        if outcome.found is not None:
            pool.add(outcome.found)
        pool.search(budget.up_to(2 * nodes * CHANGES_PER_NODE))
        nodes *= 2
    pool.search(budget)
    return None
