"""The placers `search` and `climb`: annealing chains, and moves of one unit at a time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim import work_clock
from streamplace.placers.base import BOTH, BasePlacer
from streamplace.placers.budget import Budget, check_limits
from streamplace.placers.repair import feasible
from streamplace.placers.search.balance import (
    Prefer,
    balanced,
    balances,
    check_prefer,
    may_spread,
    refuse_preference,
    settled,
)
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import qualities_of_rows
from streamplace.util.arrays import Ints

CHANGES, CHANGES_PER_UNIT = 100_000, 100  # tried by default: a constant, plus a number per unit
PER_UNIT = 100  # evaluations by default


@dataclass(frozen=True)
class Search(BasePlacer):
    """Anneal chains of placements and return the best placement found.

    Chains start in turn from `start` (if any), METIS's placements, the greedy placement, and all
    operators on one device; where operators fire on ``all`` inputs, also from a contiguous split.
    Their lengths do not depend on the limit: with the same seed, a longer search repeats every
    chain of a shorter one except its last.

    Under the makespan objective, all placements that the bounds do not rule out are tried where
    there are at most 100,000. Otherwise, chains start from
    the best of `start` and the placements of HEFT (with and without contention), PEFT (with the
    times of links), CPOP, METIS with a part for each device, both randomised list schedulers, the
    enumerative placer and the best single device; from 5,000 operators on, only of HEFT, PEFT,
    METIS, random list scheduling and the best single device. On graphs of up to 30 units, METIS
    with up to eight parts and more list schedules are among them, and chains take turns with all of
    these starts. On others, a climb without annealing comes first. Beside the chains, a tenth of
    their evaluations goes to more random list schedules, and a twentieth to METIS with different
    numbers of parts. The clock does nothing but end the search: with the same seed, a longer search
    repeats a shorter one and goes on.

    Parameters
    ----------
    evaluations
        Changes tried by all chains together; default 100,000 plus 100 per unit.
    seconds
        Wall time in seconds, to limit the search by time. Results then depend on the machine.
    prefer
        What is improved once everything offered is carried, or an operator limits it that fills no
        device or link: ``balance`` lowers the largest
        utilisation, then the second largest, and so on; ``fewest`` nothing. None:
        ``fewest`` with an initial placement, else ``balance``.
    """

    name: ClassVar[str] = "search"
    objectives: ClassVar[frozenset[str]] = BOTH
    takes_start: ClassVar[bool] = True
    evaluations: int | None = None
    seconds: float | None = None
    prefer: Prefer | None = None

    def __post_init__(self) -> None:
        check_limits(self.name, self.seconds, self.evaluations)
        check_prefer(self.name, self.prefer)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found; stop early at the bound.

        Raises
        ------
        UsageError
            Under the makespan objective, if there is a preference.
        """
        refuse_preference(f"placer {self.name!r}", self.prefer, problem.objective)
        budget = self._budget(problem)
        if problem.objective.is_pass:
            from streamplace.placers.scheduling.search import search_pass  # noqa: PLC0415 - slow to load

            return search_pass(problem, rng, start, budget)
        rows = starts(problem, rng, start)
        found = best_of_chains(problem, rng, rows, budget)
        if balances(self.prefer, start) and may_spread(problem, [found]):
            return settled(problem, [balanced(problem, rng, [found], budget)])
        return found

    def _budget(self, problem: Problem) -> Budget:
        evaluations = self.evaluations
        if evaluations is None and self.seconds is None:
            evaluations = CHANGES + CHANGES_PER_UNIT * problem.feasibility.unit_count
        return Budget(self.seconds, evaluations)


@dataclass(frozen=True)
class Climb(BasePlacer):
    """First-improvement climb: try random moves of one unit, keep those that are not worse.

    It starts from the initial placement, or else from all operators on the first device that may
    run them, repaired where constraints require it.

    Parameters
    ----------
    evaluations
        Number of placements to evaluate; default 100 per unit.
    seconds
        Wall time in seconds, to limit the climb by time. Results then depend on the machine.
    """

    name: ClassVar[str] = "climb"
    takes_start: ClassVar[bool] = True
    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_limits(self.name, self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found."""
        evaluations = self.evaluations
        if evaluations is None and self.seconds is None:
            evaluations = PER_UNIT * problem.feasibility.unit_count
        budget = Budget(self.seconds, evaluations)
        row = first_row(problem) if start is None else feasible(problem, start.devices).devices
        if type(problem.objective) is Makespan and not problem.objective.noise:
            from streamplace.placers.scheduling.annealing import climb_pass  # noqa: PLC0415 - slow to load

            return Placement(problem, climb_pass(problem, rng, row, budget))
        return Placement(problem, _climbed(problem, rng, row, budget))


def first_row(problem: Problem) -> Ints:
    """Return a feasible placement, (V,), with all operators on the first possible device.

    Raises
    ------
    PlacementError
        If no feasible placement was found.
    """
    rules = problem.feasibility
    for device in np.flatnonzero(rules.allowed.any(axis=0)):
        row = np.full(len(problem.graph.names), device, np.int32)
        if rules.violation(row) is None:
            return row
    first: Ints = rules.allowed.argmax(axis=1).astype(np.int32)
    return feasible(problem, first[rules.unit_of]).devices


def _climbed(problem: Problem, rng: np.random.Generator, row: Ints, budget: Budget) -> Ints:
    rules = problem.feasibility
    units, targets = np.nonzero(rules.allowed)
    row = row.astype(np.int32)
    reached = float(qualities_of_rows(problem, row[None])[0])
    while budget.left() > 0:
        begun = work_clock.now()
        i = int(rng.integers(len(units)))
        moved = np.where(rules.unit_of == units[i], targets[i].astype(np.int32), row)
        if (moved != row).any() and rules.violation(moved) is None:
            quality = float(qualities_of_rows(problem, moved[None])[0])
            if quality >= reached:
                row, reached = moved, quality
        budget.charge(1, work_clock.now() - begun)
    return row
