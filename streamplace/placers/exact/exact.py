"""The placer that finds the optimum and proves it, under throughput and makespans."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from streamplace.errors import Fault, UsageError
from streamplace.placers.base import BOTH, TOTAL_COST, Found, ReportingPlacer
from streamplace.placers.budget import Budget, check_limits
from streamplace.placers.exact import cp_sat
from streamplace.placers.exact.decision import (
    DecisionOutcome,
    DecisionProblem,
    Incumbent,
    is_small,
)
from streamplace.placers.search.search import Search
from streamplace.problem.objective import Model
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.score import ROUNDING
from streamplace.scoring.throughput import throughput_where_scored
from streamplace.sim.exact import hardness
from streamplace.sim.exact.enumeration import enumerate_above, walk
from streamplace.util.arrays import Ints

ROWS = 256  # placements scored per call; with more, a better bound would be used later
STEPS = 100_000  # search steps between two checks of the time, few enough to keep a limit
QUICK = 30_000  # nodes that settle most decision problems, before anything dearer is tried
# Where a rate just above the incumbent stays open, rates further above may be refuted quickly, so
# that the gap that is reported in the end is small.
BISECTIONS, SHALLOW = 8, 10_000  # decision problems that narrow the gap, and nodes for each
# First turn of the search and of CP-SAT (s); doubled every turn, as either may be the quick one.
NODES, EFFORT = 300_000, 1.0
MAX_WORKERS = 1024  # CP-SAT refuses more than 10,000 and reports an invalid model


def enumerate_all(incumbent: Incumbent, budget: Budget) -> None:
    """Score every placement that could be better, until all are done or time is up.

    With several source rates, the highest decides which placements could be better.
    """
    problem = incumbent.problem
    instance, arrays = compiled(problem).instance, flow(problem)
    order = np.argsort(-hardness(instance), kind="stable").astype(np.int32)
    at = walk(instance, identical_devices(problem.cluster, problem.constraints), order)
    rows: Ints = np.empty((ROWS, arrays.operators), np.int32)
    done = False
    while not (done or incumbent.closed) and budget.seconds_left() > 0:
        target = arrays.nominal_sink_tuples * (incumbent.rate_to_beat / problem.source_rate)
        count, done = enumerate_above(
            instance,
            arrays.columns,
            arrays.sinks,
            problem.feasibility.unit_of,
            at,
            target,
            rows,
            STEPS,
        )
        if count:
            reached = throughput_where_scored(problem, rows[:count])
            top = int(reached.argmax())
            incumbent.offer(Placement(problem, rows[top]), float(reached[top]))
    if done:
        incumbent.none_reaches(incumbent.rate_to_beat)


@dataclass(frozen=True)
class Exact(ReportingPlacer):
    """Search for a good placement, then prove it optimal or find a better one.

    A proof holds to a relative tolerance of 1e-9 in throughput or makespan; where CP-SAT is needed,
    to one of 1e-6. The same seed gives the same placement if the time suffices for the proof.

    Parameters
    ----------
    seconds
        Wall time in seconds after which to return the best placement and bound so far. This
        includes the initial search, which under throughput always runs to its end.
    workers
        Number of threads of CP-SAT.
    """

    name: ClassVar[str] = "exact"
    objectives: ClassVar[frozenset[str]] = BOTH | TOTAL_COST
    takes_start: ClassVar[bool] = True
    proves: ClassVar[bool] = True
    seconds: float = 10.0  # most graphs of 27 operators are proven by then (docs/results/search.md)
    workers: int = 1

    def __post_init__(self) -> None:
        check_limits(self.name, self.seconds, None)
        if not 1 <= self.workers <= MAX_WORKERS:
            fault = f"workers must be 1 to {MAX_WORKERS} (got {self.workers})"
            raise UsageError(Fault(fault, place=(self.name,)))

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the best placement found, and a bound on all placements.

        Raises
        ------
        UsageError
            Under ``engine``, for a custom objective, or for makespans with noise.
        PlacementError, InfeasibleError
            If no feasible placement was found, or none exists.
        """
        if (prove := problem.objective.function("exact")) is not None:
            proven: Found = prove(problem, rng, start, self.seconds, self.workers)
            return proven
        only_throughput(problem.objective, "placer 'exact' supports only throughput")
        improve = PROVERS.get(problem.model)
        if improve is None:
            models = " and ".join(PROVERS)
            raise UsageError(f"placer 'exact' supports the models {models}, not {problem.model}")
        budget = Budget(self.seconds)
        incumbent = Incumbent(problem, Search()(problem, rng, start))
        incumbent.report()
        if not is_small(problem):
            return incumbent.proof()
        improve(incumbent, budget, self.workers, rng)
        return incumbent.proof()


def _refute(incumbent: Incumbent, budget: Budget, workers: int, rng: np.random.Generator) -> None:
    refute_all(incumbent, budget, workers, int(rng.integers(2**31)))


def _enumerate(
    incumbent: Incumbent, budget: Budget, workers: int, rng: np.random.Generator
) -> None:
    enumerate_all(incumbent, budget)


PROVERS: dict[Model, Callable[[Incumbent, Budget, int, np.random.Generator], None]] = {
    "bottleneck": _refute,
    "path-average": _enumerate,
}
"""For each model, the function that improves an incumbent and its bound until time is up."""


def refute_all(incumbent: Incumbent, budget: Budget, workers: int, seed: int) -> None:
    """Raise the incumbent and lower the upper bound until they meet or time is up."""
    narrowed = False
    while not incumbent.closed and budget.seconds_left() > 0:
        decision = DecisionProblem(incumbent.problem, incumbent.rate_to_beat)
        outcome = decision.search(QUICK, budget)
        if outcome.open and not narrowed:
            narrowed = True
            if _narrow(incumbent, budget):
                continue
        if outcome.open:
            outcome = _decide(decision, budget, workers, seed)
        # Time is up, or what CP-SAT leaves open by its margin, no further run of it can close.
        if outcome.open or not _settle(incumbent, decision, outcome) or outcome.margin > 0.0:
            return


def _narrow(incumbent: Incumbent, budget: Budget) -> bool:
    """Bisect the gap with easier decision problems; return whether the incumbent improved."""
    improved, low = False, incumbent.reached
    for _ in range(BISECTIONS):
        if incumbent.bound <= low * (1.0 + ROUNDING):
            break
        middle = 0.5 * (low + incumbent.bound)
        decision = DecisionProblem(incumbent.problem, middle)
        outcome = decision.search(SHALLOW, budget)
        if outcome.open:
            low = middle
        elif _settle(incumbent, decision, outcome) and outcome.found:
            improved, low = True, incumbent.reached
    return improved


def _decide(decision: DecisionProblem, budget: Budget, workers: int, seed: int) -> DecisionOutcome:
    """Run the search and CP-SAT in turn, longer each time, until one decides or time is up."""
    is_small_enough = cp_sat.Model.is_small(decision)
    model = cp_sat.Proof(decision, workers, seed) if is_small_enough else None
    outcome = DecisionOutcome()
    for turn in count():
        outcome = decision.search(NODES << turn, budget)
        if outcome.open and model is not None:
            outcome = model.search(EFFORT * 2**turn, budget)
        if not outcome.open or budget.seconds_left() <= 0:
            return outcome
    return outcome


def _settle(incumbent: Incumbent, decision: DecisionProblem, outcome: DecisionOutcome) -> bool:
    """Apply the outcome of a decision problem and return whether it changed the incumbent."""
    if outcome.found is not None:
        return incumbent.offer(outcome.found)
    incumbent.none_reaches(decision.rate * (1.0 + outcome.margin))
    return outcome.proven
