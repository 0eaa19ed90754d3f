"""Migration: a few moves that improve a placement after devices, rates or the graph changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.base import BOTH, Improver
from streamplace.placers.budget import Budget, budget_of, check_limits
from streamplace.placers.search.balance import Prefer, check_prefer, refuse_preference
from streamplace.placers.search.current import Current, current_devices, moving_seconds
from streamplace.placers.search.moves import best_with_fewest_moves, polished, with_fewest_moves
from streamplace.placers.search.nearby import SEARCHED, MovesSearch, Nearby
from streamplace.placers.trivial import on_one_device
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints, distinct_rows

# Limits on the cost of moves that are searched in turn, evenly spaced by ratio; a guess.
LIMITS = 12
# Share of the search without a limit, since many moves may be worth their price; a guess.
UNLIMITED = 0.3
# Factor on the cost of moves to look for a cheaper placement: just less, whatever the rounding.
BELOW = 1.0 - 1e-9
REFINED = 0.2  # share of the remaining budget for each such search, so that several follow; a guess
MAX_SINGLE = 64  # devices on which all operators are put: each is a placement to score; a guess
POLISHED = 3  # placements of most worth from which single moves continue; a guess, not tuned
Worth = Callable[[Ints], Floats]  # of placements, (K,) for (K, V)
PART = 0.5  # share of what is left of it for each chain, so that fewer moves can be tried; a guess


def best_for_price(search: Nearby, drafts: list[Ints], price: float, budget: Budget) -> Placement:
    """Return the placement of most value less `price` per second of moving.

    All placements are tried if they are few. Otherwise, chains look for the best placement at
    several limits on the cost of moves and without a limit, and single moves improve the best of
    these.

    Parameters
    ----------
    drafts
        Placements to consider, (V,) each; the first is the one after the fewest necessary moves.
    """
    current = search.current
    problem, seconds = current.problem, moving_seconds(current.problem)
    worth = _worth(search, price)
    staying = drafts[0]
    limit = _largest_cost(search, staying, price, seconds)
    best_already = search.value(staying[None])[0] >= search.highest_value - search.gain
    # No move can gain anything, and none is paid for: there is nothing to search.
    if best_already and current.costs(staying[None], seconds)[0] == 0.0:
        return Placement(problem, staying)
    every = search.all_within(seconds, limit)
    if every is not None:
        return Placement(problem, best_with_fewest_moves(search, every, worth(every)))
    limits = _limits(search, staying, seconds, limit) if price > 0 else []
    chains = budget.share(SEARCHED)
    row, found = staying, list(drafts)
    found.append(search.unlimited(staying, chains.share(UNLIMITED if limits else 1.0)))
    for number, cost in enumerate(limits):
        row = search.annealed([row], seconds, cost, chains.share(1.0 / (len(limits) - number)))
        found.append(row)
    distinct = distinct_rows([*found, *islice(on_one_device(problem), MAX_SINGLE)])
    promising = distinct[np.argsort(-worth(distinct), kind="stable")[:POLISHED]]
    least = distinct[current.costs(distinct, seconds).argmin()]
    rows = np.stack([_cheaper(search, row, least, worth, seconds, budget) for row in promising])
    return Placement(problem, best_with_fewest_moves(search, rows, worth(rows)))


def improved_for_price(
    search: Nearby, staying: Placement, price: float, improver: Improver, rng: np.random.Generator
) -> Placement:
    """Return the placement of most value less `price` per second of moving that a placer finds."""
    worth, current = _worth(search, price), search.current
    found = improver.best_by(current.problem, staying, worth, rng).devices
    rows = np.stack([staying.devices, found])
    return Placement(current.problem, best_with_fewest_moves(search, rows, worth(rows)))


def _worth(search: Nearby, price: float) -> Worth:
    """Return the function of the value of placements less the price of their moves."""
    current, seconds = search.current, moving_seconds(search.current.problem)

    def worth(rows: Ints) -> Floats:
        values: Floats = search.value(rows) - price * current.costs(rows, seconds)
        return values

    return worth


def _cheaper(
    search: Nearby, devices: Ints, least: Ints, worth: Worth, seconds: Floats, budget: Budget
) -> Ints:
    """Return a placement, (V,), worth at least as much, after searches for one of less cost.

    Parameters
    ----------
    least
        (V,) the placement of least cost, from which these searches start.
    """
    current = search.current
    while True:
        devices = polished(search, devices, worth, budget)
        limit = float(current.costs(devices[None], seconds)[0]) * BELOW
        if limit < current.costs(least[None], seconds)[0] or budget.left() == 0:
            return devices
        other = search.annealed([least], seconds, limit, budget.share(REFINED))
        other = polished(search, other, worth, budget)
        if worth(other[None])[0] <= worth(devices[None])[0] + search.gain:
            return devices
        devices = other


def _largest_cost(search: Nearby, staying: Ints, price: float, seconds: Floats) -> float:
    """Return the cost beyond which no gain is worth its price."""
    gain = search.highest_value - max(float(search.value(staying[None])[0]), 0.0)
    paid = float(search.current.costs(staying[None], seconds)[0])
    return paid + gain / price if price > 0 else np.inf


def _limits(search: Nearby, staying: Ints, seconds: Floats, largest: float) -> list[float]:
    """Return limits to search: from the cheapest move to all moves, evenly spaced by ratio."""
    settled = seconds[search.current.devices >= 0]
    paying = settled[settled > 0]
    if not len(paying):
        return []
    paid = float(search.current.costs(staying[None], seconds)[0])
    most = max(min(float(paying.sum()), largest - paid), float(paying.min()))
    # By ratio, since memory to move differs by orders of magnitude.
    return [paid + float(x) for x in np.geomspace(paying.min(), most, LIMITS)]


def necessary_moves(search: Nearby, fewest: Ints) -> Placement:
    """Return the best placement that a short search finds with the fewest necessary moves.

    Parameters
    ----------
    fewest
        (V,) a placement after as few moves.
    """
    if (search.current.devices == fewest).all():
        return Placement(search.current.problem, fewest)
    return best_within_moves(search, fewest, 0, Budget(evaluations=len(fewest)))


def best_within_moves(search: Nearby, staying: Ints, max_moves: int, budget: Budget) -> Placement:
    """Return the best placement within `max_moves` moves besides the fewest necessary ones.

    All placements are tried if they are few. Otherwise, chains look for a better placement, then
    for one as good with fewer moves.

    Parameters
    ----------
    staying
        (V,) the placement after the fewest necessary moves.
    """
    current, each = search.current, np.ones(len(search.current.devices))
    necessary = int(current.moves(staying[None])[0])
    limit = float(necessary + max_moves)

    def worth(rows: Ints) -> Floats:
        return np.where(current.moves(rows) <= limit, search.value(rows), -np.inf)

    if search.value(staying[None])[0] >= search.highest_value - search.gain:
        return Placement(current.problem, staying)
    every = search.all_within(each, limit)
    if every is not None:
        return Placement(current.problem, best_with_fewest_moves(search, every, worth(every)))
    chains = budget.share(SEARCHED)
    row = search.annealed([staying], each, limit, chains.share(PART))
    row = polished(search, row, worth, budget)
    reached, moves = float(worth(row[None])[0]), int(current.moves(row[None])[0])
    # Nothing in a chain prefers fewer moves, so that a tighter limit is tried.
    while moves > necessary and chains.left() > 0:
        fewer = search.annealed([staying], each, moves - 1.0, chains.share(PART))
        if worth(fewer[None])[0] < reached - search.gain:
            break
        row, moves = fewer, int(current.moves(fewer[None])[0])
    return Placement(current.problem, row)


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
        Limit on wall time in seconds, or on changes tried; without both, as that of `auto`.
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
        with budget_of(self.seconds, self.evaluations) as budget:
            return self._within(budget, problem, rng, start)

    def _within(
        self, budget: Budget, problem: Problem, rng: np.random.Generator, start: Placement | None
    ) -> Placement:
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

        There is no search where scoring a placement takes long, with the engine and under custom
        objectives, nor under objectives of a pass other than the makespan.
        """
        current = current_devices(problem, self.old)
        fewest = with_fewest_moves(current)
        is_slow = evaluator(problem).best_possible is None
        if problem.objective.quantity not in BOTH or (is_slow and problem.objective.has_rates):
            return fewest
        return necessary_moves(self._moves(current, fewest.devices, rng), fewest.devices)

    def _moves(self, current: Current, staying: Ints, rng: np.random.Generator) -> Nearby:
        """Return the search for moves under the problem's objective."""
        own = current.problem.objective.function("migrate")
        if own is None:
            return MovesSearch(current, self.prefer, rng)
        if self.prefer != "fewest":
            refuse_preference("migrate", self.prefer, current.problem.objective)
        moves: Nearby = own(current, rng, staying)
        return moves
