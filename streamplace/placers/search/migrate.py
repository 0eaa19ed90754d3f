"""Migration: a few moves that improve a placement after devices, rates or the graph changed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UnsuitableError, UsageError
from streamplace.placers.base import Improver
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.balance import Prefer, check_prefer
from streamplace.placers.search.current import Current, current_devices
from streamplace.placers.search.forced_moves import with_fewest_moves
from streamplace.placers.search.limited_moves import best_within_moves, necessary_moves
from streamplace.placers.search.moves_search import MovesSearch
from streamplace.placers.search.nearby import Nearby
from streamplace.placers.search.priced_moves import best_for_price, improved_for_price
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints

SECONDS = 1.0


@dataclass(frozen=True)
class Migrate:
    """Improve the current placement by a few moves, or by moves that gain more than they cost.

    An operator whose device is gone or no longer allowed must move, which costs nothing. Moves that
    gain nothing are not made. The current placement may belong to another cluster, rate or version
    of the graph: operators and devices are matched by name.

    Parameters
    ----------
    old
        The current placement, or operator -> device.
    max_moves
        Number of operators that may move, in addition to the fewest that must.
    move_cost
        What a move must gain for each second it takes to send the operator's memory_bytes over a
        mean link: relative throughput (throughput / source rate) or, under the makespan objective,
        the share by which the makespan becomes shorter than without unnecessary moves.
    seconds, evaluations
        Wall time in seconds (default 1 unless `evaluations` is set), or number of changes tried.

    prefer
        ``balance``: where everything offered is carried, each whole percent by which the largest
        utilisation falls counts as a gain of 0.01. ``fewest``: nothing counts but throughput or
        makespan.
    improver
        With `move_cost`, a placer that looks for the moves instead, with its own limit.

    Raises
    ------
    UsageError
        Unless exactly one of `max_moves` and `move_cost` is set, and is at least 0; or if
        `improver` is set without `move_cost`.
    """

    old: Placement | Mapping[str, str]
    max_moves: int | None = None
    move_cost: float | None = None
    seconds: float | None = None
    evaluations: int | None = None
    prefer: Prefer = "fewest"
    improver: Improver | None = None

    def __post_init__(self) -> None:
        if (self.max_moves is None) == (self.move_cost is None):
            raise UsageError("set exactly one of max_moves and move_cost")
        if self.max_moves is not None and self.max_moves < 0:
            raise UsageError(f"max_moves must be at least 0 (got {self.max_moves})")
        if self.move_cost is not None and not 0 <= self.move_cost < np.inf:
            raise UsageError(f"move_cost must be finite and at least 0 (got {self.move_cost:g})")
        if self.improver is not None and self.move_cost is None:
            raise UsageError("an improver requires move_cost")
        check_limits("migrate", self.seconds, self.evaluations)
        check_prefer("migrate", self.prefer)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement within the allowed moves.

        Parameters
        ----------
        start
            A placement to consider besides those that the search finds; with `max_moves`, the one
            after the fewest necessary moves from which the search starts, such as `necessary`.

        Raises
        ------
        UnsuitableError
            Under the makespan objective, if the preference is ``balance``.
        """
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        current = current_devices(problem, self.old)
        staying = with_fewest_moves(current).devices
        moves = self._moves(current, staying, rng)
        if self.max_moves is not None:
            first = staying if start is None else start.devices
            return best_within_moves(moves, first, self.max_moves, budget)
        if self.improver is not None:
            least = necessary_moves(moves, staying)
            return improved_for_price(moves, least, self.move_cost or 0.0, self.improver, rng)
        drafts = [staying] if start is None else [staying, start.devices]
        return best_for_price(moves, drafts, self.move_cost or 0.0, budget)

    def necessary(self, problem: Problem, rng: np.random.Generator) -> Placement:
        """Return the best placement that a short search finds with the necessary moves only.

        There is no search where scoring a placement takes long: with the engine, and under custom
        objectives.
        """
        current = current_devices(problem, self.old)
        fewest = with_fewest_moves(current)
        is_slow = evaluator(problem).best_possible is None
        if is_slow and not isinstance(problem.objective, Makespan):
            return fewest
        return necessary_moves(self._moves(current, fewest.devices, rng), fewest.devices)

    def _moves(self, current: Current, staying: Ints, rng: np.random.Generator) -> Nearby:
        """Return the search for moves under the problem's objective."""
        if not isinstance(current.problem.objective, Makespan):
            return MovesSearch(current, self.prefer, rng)
        if self.prefer != "fewest":
            supported = f"the preference {self.prefer!r} supports only throughput, not makespan"
            raise UnsuitableError(f"migrate: {supported}")
        from streamplace.placers.scheduling.moves import PassMoves  # noqa: PLC0415 - slow to load

        return PassMoves(current, rng, staying)
