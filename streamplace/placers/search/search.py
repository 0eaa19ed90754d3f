"""The placer `search`: annealing chains."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.placers.base import BOTH, BasePlacer
from streamplace.placers.budget import Budget, check_limits
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
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

# Tried by default, plus per unit: some 10 ms at 100 ns each; a guess, not tuned.
CHANGES, CHANGES_PER_UNIT = 100_000, 100


@dataclass(frozen=True)
class Search(BasePlacer):
    """Anneal chains of placements and return the best placement found.

    Chains start in turn from `start` (if any), METIS's placements, the greedy placement, and all
    operators on one device; where operators fire on ``all`` inputs, also from a contiguous split.
    Their lengths do not depend on the limit: with the same seed, a longer search repeats every
    chain of a shorter one except its last.

    Under the makespan objective, all placements that the bounds do not rule out are tried where
    there are at most 100,000. Otherwise, chains start from the best of `start` and the placements
    of HEFT (with and without contention), PEFT (with the times of links), CPOP, METIS with a part
    for each device, both randomised list schedulers, the enumerative placer and the best single
    device; from 5,000 operators on, only of HEFT, PEFT, METIS, random list scheduling and the best
    single device. On graphs of up to 30 units, METIS with up to eight parts and more list schedules
    are among them, and chains take turns with all of these starts. On others, a climb without
    annealing comes first. Beside the chains, a tenth of their evaluations goes to more random list
    schedules, and a twentieth to METIS with different numbers of parts. The clock does nothing but
    end the search: with the same seed, a longer search repeats a shorter one and goes on.

    Parameters
    ----------
    evaluations
        Changes tried by all chains together; without any limit, 100,000 plus 100 per unit.
    seconds
        Wall time in seconds, to limit the search by time. Results then depend on the machine.
    prefer
        What is improved once everything offered is carried, or an operator limits it that fills no
        device or link: ``balance`` lowers the largest utilisation, then the second largest, and so
        on; ``fewest`` nothing. None: ``fewest`` with an initial placement, else ``balance``.
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
        if (search := problem.objective.function("search")) is not None:
            own: Placement = search(problem, rng, start, budget)
            return own
        if not problem.objective.has_rates:
            self.check_supports(problem)
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
