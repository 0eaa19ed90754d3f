"""The protocol of searches among placements near the current one."""

from typing import Protocol

from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.current import Current
from streamplace.util.arrays import Floats, Ints


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
