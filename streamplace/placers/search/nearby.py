"""Searches among placements near the current one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED, Prefer, overloaded
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.placers.search.current import Current
from streamplace.placers.search.exhaustive import MOST_PARTIAL, feasible_rows
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import evaluator, qualities_of_rows
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from streamplace.util.arrays import Floats, Ints

# Share of a budget for annealing; moves that gain nothing are then removed. A guess, not tuned.
SEARCHED = 0.8
# Placements that are all tried if scoring one takes long, as with the engine; a guess.
FEW_SLOW = 200
SAME = 1e-6  # relative difference that is worth no move: printed results have fewer digits
# Headroom counts in whole percents, because a lower utilisation alone is rarely worth a move.
PERCENT = 100.0  # steps in which headroom counts


@dataclass(frozen=True)
class MovesSearch:
    """The search for moves that raise the throughput; see `Nearby`.

    Parameters
    ----------
    prefer
        ``balance`` if headroom counts too where everything offered is carried.
    rng
        Seeds all chains.
    """

    current: Current
    prefer: Prefer
    rng: np.random.Generator

    def value(self, rows: Ints) -> Floats:
        """Return the value of placements, (K,) for (K, V).

        It is relative throughput. With ``balance``, 0.01 is added for each whole percent between
        the largest utilisation and 100% where everything offered is carried.
        """
        problem = self.current.problem
        quality = qualities_of_rows(problem, rows)
        if self.prefer == "fewest":
            return quality
        free = np.maximum(1.0 - worst_utilisation(flow(problem), rows), 0.0)
        return quality + np.where(quality >= CARRIED, np.floor(free * PERCENT) / PERCENT, 0.0)

    @property
    def highest_value(self) -> float:
        """A bound on the value of every placement."""
        possible = evaluator(self.current.problem).best_possible
        most = 1.0 if possible is None else possible
        return most if self.prefer == "fewest" else most + 1.0

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts.

        It is relative: where the source rate is far above what devices can do, all values are low.
        """
        possible = evaluator(self.current.problem).best_possible
        return SAME if possible is None else SAME * possible

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements within a limit of costs; see `Nearby`."""
        problem = self.current.problem
        few = MOST_PARTIAL if evaluator(problem).best_possible is not None else FEW_SLOW
        rows = feasible_rows(problem, self.current.unit_costs(migration_cost), limit, few)
        return rows if rows is not None and len(rows) else None

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found within a limit of costs; see `Nearby`."""
        return best_of_chains(
            self._searched,
            self.rng,
            rows,
            budget,
            current_device=self.current.devices,
            migration_cost=migration_cost,
            migration_budget=limit,
        ).devices

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves."""
        rows = starts(self._searched, self.rng, Placement(self._searched, staying))
        return best_of_chains(self._searched, self.rng, rows, budget).devices

    @cached_property
    def _searched(self) -> Problem:
        """The problem whose relative throughput the chains improve."""
        problem = self.current.problem
        balances = self.prefer == "balance" and evaluator(problem).best_possible is not None
        return overloaded(problem) if balances else problem


class Nearby(Protocol):
    """The search for moves that improve a placement under one objective."""

    @property
    def current(self) -> Current:
        """The current devices of operators."""
        ...

    def value(self, rows: Ints) -> Floats:
        """Return the value of placements, (K,) for (K, V); higher is better."""
        ...

    @property
    def highest_value(self) -> float:
        """A bound on the value of every placement."""
        ...

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts; smaller ones are rounding."""
        ...

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements, (K, V), whose moves cost at most `limit`.

        The result is None if there are too many, or none.

        Parameters
        ----------
        migration_cost
            (V,) cost of each operator's move.
        """
        ...

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found, (V,), whose moves cost at most `limit`.

        Parameters
        ----------
        rows
            Initial placements, (V,) each.
        migration_cost
            (V,) cost of each operator's move.
        """
        ...

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves.

        Parameters
        ----------
        staying
            (V,) the placement after the fewest necessary moves.
        """
        ...
