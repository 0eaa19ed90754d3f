"""Search for shorter makespans among placements near the current one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.schedule.walk import Leaving
from streamplace.placers.scheduling.annealing import best_of_passes
from streamplace.placers.scheduling.passes import pass_evaluator
from streamplace.placers.scheduling.portfolio import portfolio
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.current import Current
from streamplace.placers.search.exhaustive import FEW, ROUNDING, feasible_rows
from streamplace.problem.placement import Placement
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Floats, Ints

FEWEST = 200  # placements that are all tried, however large the graph is
GAIN = 1e-9  # smallest difference that counts, in shares of the makespan
MAX_PARTS = 4_000_000  # operators and streams x placements x passes up to which more are tried


@dataclass(frozen=True)
class PassMoves:
    """The search for moves that shorten the makespan; see `Nearby`.

    The value of a placement is the share by which it shortens the makespan of `staying`.

    Parameters
    ----------
    rng
        Seeds all chains.
    staying
        (V,) the placement after the fewest necessary moves.
    """

    current: Current
    rng: np.random.Generator
    staying: Ints

    def value(self, rows: Ints) -> Floats:
        """Return the share by which placements shorten the makespan, (K,) for (K, V)."""
        makespans = self._scored.makespans(rows)
        if self._staying_s == 0.0:
            return np.where(makespans > 0.0, -np.inf, 0.0)
        return 1.0 - makespans / self._staying_s

    @property
    def highest_value(self) -> float:
        """The value of a placement whose makespan is the lower bound; with noise, 1."""
        bound_s = self._scored.bound_s
        if self._staying_s == 0.0:
            return 0.0
        return 1.0 - (bound_s or 0.0) / self._staying_s

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts."""
        return GAIN

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements, (K, V), whose moves cost at most `limit`."""
        parts = len(self.staying) + len(self._scored.tasks.source)
        few = min(FEW, max(FEWEST, MAX_PARTS // (parts * self._scored.passes)))
        costs = self.current.unit_costs(migration_cost)
        rows = feasible_rows(self.current.problem, costs, limit, few)
        return rows if rows is not None and len(rows) else None

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found, (V,), whose moves cost at most `limit`."""
        most = limit + ROUNDING * (1.0 + limit)
        home = self.current.devices.astype(np.int32)
        leaving = Leaving(home, migration_cost.astype(np.float64), most)
        return best_of_passes(self._scored, self.rng, np.stack(rows), budget, leaving)

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves."""
        problem = self.current.problem
        rows = portfolio(problem, self.rng, Placement(problem, staying))
        return best_of_passes(self._scored, self.rng, rows, budget)

    @cached_property
    def _scored(self) -> MakespanEvaluator:
        return pass_evaluator(self.current.problem, "migrate")

    @cached_property
    def _staying_s(self) -> float:
        return float(self._scored.makespans(self.staying)[0])
