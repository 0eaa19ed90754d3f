"""Placements of the least total cost: by a climb, by trying all, by a minimum cut and by CP-SAT."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from streamplace.errors import Fault, ObjectiveError
from streamplace.makespan.placers.proof import Proof
from streamplace.makespan.total_cost import TotalCostEvaluator
from streamplace.makespan.two_devices import cheapest_of_two
from streamplace.placers.base import Found
from streamplace.placers.budget import Budget
from streamplace.placers.search.climb import Climb
from streamplace.placers.search.exhaustive import MOST_PARTIAL, feasible_rows
from streamplace.placers.starting import fast_placement
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints


class CostProof(Proof):
    """A proof that no placement has a lower total cost; see `Proof`."""

    model = "streamplace.makespan.placers.cp_sat:CostModel"

    def quickly(self, most: int = MOST_PARTIAL) -> None:
        """Try the placement of the minimum cut, and all placements if they are few.

        Parameters
        ----------
        most
            Number of placements beyond which they are not few.
        """
        problem = self._scored.problem
        cut = problem.once(cheapest_of_two)
        if cut is not None:
            self._bound = max(self._bound, cut.cost_s)
            self._offer_found(cut.devices)
        rows = None if self.closed else feasible_rows(problem, most=most)
        if rows is not None:
            self._offer(rows)
            self._bound = self._reached

    def _losses(self, rows: Ints) -> Iterator[Floats]:
        yield self._scored.loss(rows)


def cheap_placement(
    problem: Problem, rng: np.random.Generator, start: Placement | None, climb: Climb
) -> Found:
    """Return the placement of a climb, or the cheapest one if that is quickly proven.

    The climb begins at the initial placement, or else at the best of a few fast placers. A limit on
    its evaluations also holds for trying all placements.
    """
    found = climb(problem, rng, start or fast_placement(problem, rng))
    if problem.makespan_objective.noise:
        return Found(found)
    proof = CostProof(TotalCostEvaluator(problem), found.devices)
    proof.quickly(
        MOST_PARTIAL if climb.evaluations is None else min(MOST_PARTIAL, climb.evaluations)
    )
    proven = replace(proof.result(), optimal=None)
    return proven if proof.closed else Found(proven.placement)


def prove_cost(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    seconds: float,
    workers: int,
) -> Found:
    """Return the cheapest placement found, and a lower bound on the cost of all placements."""
    if problem.makespan_objective.noise:
        fault = "placer 'exact' supports total costs without noise only"
        raise ObjectiveError(Fault(fault, remedy="with noise use auto or climb"))
    budget = Budget(seconds)
    found = Climb()(problem, rng, start or fast_placement(problem, rng))
    proof = CostProof(TotalCostEvaluator(problem), found.devices)
    proof.quickly()
    if not proof.closed:
        proof.solve(budget.seconds_left(), workers, int(rng.integers(2**31)))
    return proof.result()
