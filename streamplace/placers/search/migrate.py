"""Migration: a few moves that improve a placement after devices, rates or the graph changed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.current import Current, current_devices, moving_seconds
from streamplace.placers.search.exhaustive import FEW, feasible_rows
from streamplace.placers.search.fewer_moves import GAIN, best_with_fewest_moves, polished
from streamplace.placers.search.forced_moves import with_fewest_moves
from streamplace.placers.search.search import best_of_chains, starts
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities_of_rows
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

Worth = Callable[[Ints], Floats]  # of placements, (K,) for (K, V)
SECONDS = 1.0
BUDGETS = 12  # limits on the cost of moves that are searched when moves have a price
UNLIMITED = 0.3  # share of the search without a limit on moves, when moves have a price
SEARCHED = 0.8  # share of the budget for annealing; moves that gain nothing are then removed
BELOW = 1.0 - 1e-9  # factor on the cost of moves to look for a cheaper placement
REFINED = 0.2  # share of the remaining budget for each such search
MAX_SINGLE = 64  # devices on which all operators are put
POLISHED = 3  # placements of most worth from which single moves continue
FEW_SLOW = 200  # placements that are all tried if scoring one takes long


@dataclass(frozen=True)
class Migrate:
    """Improve the current placement by a few moves, or by moves that gain more than they cost.

    An operator whose device is gone or no longer allowed must move, which costs nothing. Moves that
    gain nothing are not made. The current placement may belong to another cluster, rate or version
    of the graph: operators and devices are matched by name.

    Parameters
    ----------
    old
        The current placement.
    max_moves
        Number of operators that may move, in addition to the fewest that must.
    move_cost
        Relative throughput (throughput / source rate) that a move must gain for each second it
        takes to send the operator's memory_bytes over a mean link.
    seconds, evaluations
        Wall time in seconds (default 1 unless `evaluations` is set), or number of changes tried.

    Raises
    ------
    UsageError
        Unless exactly one of `max_moves` and `move_cost` is set, and is at least 0.
    """

    old: Placement
    max_moves: int | None = None
    move_cost: float | None = None
    seconds: float | None = None
    evaluations: int | None = None

    def __post_init__(self) -> None:
        if (self.max_moves is None) == (self.move_cost is None):
            raise UsageError("set exactly one of max_moves and move_cost")
        if self.max_moves is not None and self.max_moves < 0:
            raise UsageError(f"max_moves must be at least 0 (got {self.max_moves})")
        if self.move_cost is not None and not 0 <= self.move_cost < np.inf:
            raise UsageError(f"move_cost must be finite and at least 0 (got {self.move_cost:g})")
        check_limits("migrate", self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement within the allowed moves.

        Parameters
        ----------
        start
            A placement to consider besides those that the search finds.
        """
        budget = Budget(self.seconds, self.evaluations)
        if self.seconds is None and self.evaluations is None:
            budget = Budget(SECONDS)
        current = current_devices(problem, self.old)
        staying = with_fewest_moves(current).devices
        if self.max_moves is not None:
            return _within_moves(current, staying, self.max_moves, rng, budget)
        drafts = [staying] if start is None else [staying, start.devices]
        return _worth_their_price(current, drafts, self.move_cost or 0.0, rng, budget)


def _within_moves(
    current: Current, staying: Ints, max_moves: int, rng: np.random.Generator, budget: Budget
) -> Placement:
    """Return the best placement within `max_moves` moves besides the fewest necessary ones."""
    problem, each = current.problem, np.ones(len(current.devices))
    limit = float(current.moves(staying[None])[0] + max_moves)

    def worth(rows: Ints) -> Floats:
        within = current.moves(rows) <= limit
        return np.where(within, qualities_of_rows(problem, rows), -np.inf)

    every = feasible_rows(problem, current.unit_costs(each), limit, _few(problem))
    if every is not None and len(every):
        return Placement(problem, best_with_fewest_moves(current, every, worth(every)))
    search = budget.share(SEARCHED)
    row = _annealed(current, [staying], each, limit, rng, search.share(0.5))
    row = polished(current, row, worth, budget)
    reached, moves = float(worth(row[None])[0]), int(current.moves(row[None])[0])
    while moves > current.moves(staying[None])[0] and search.left() > 0:
        fewer = _annealed(current, [staying, row], each, moves - 1.0, rng, search.share(0.5))
        if current.moves(fewer[None])[0] >= moves or worth(fewer[None])[0] < reached - GAIN:
            break
        row, moves = fewer, int(current.moves(fewer[None])[0])
    return Placement(problem, row)


def _worth_their_price(
    current: Current, drafts: list[Ints], price: float, rng: np.random.Generator, budget: Budget
) -> Placement:
    """Return the placement of most relative throughput less `price` per second of moving."""
    problem, seconds = current.problem, moving_seconds(current.problem)

    def worth(rows: Ints) -> Floats:
        return qualities_of_rows(problem, rows) - price * current.costs(rows, seconds)

    staying = drafts[0]
    limit = _largest_cost(current, staying, price, seconds)
    every = feasible_rows(problem, current.unit_costs(seconds), limit, _few(problem))
    if every is not None and len(every):
        return Placement(problem, best_with_fewest_moves(current, every, worth(every)))
    limits = _limits(current, staying, seconds, limit) if price > 0 else []
    search = budget.share(SEARCHED)
    anywhere = starts(problem, rng, Placement(problem, staying))
    unlimited = best_of_chains(problem, rng, anywhere, search.share(UNLIMITED if limits else 1.0))
    row, found = staying, [*drafts, unlimited.devices]
    for number, cost in enumerate(limits):
        share = search.share(1.0 / (len(limits) - number))
        row = _annealed(current, [row], seconds, cost, rng, share)
        found.append(row)
    distinct = np.unique(np.stack([*found, *_on_one_device(problem)]), axis=0)
    promising = distinct[np.argsort(-worth(distinct), kind="stable")[:POLISHED]]
    least = distinct[current.costs(distinct, seconds).argmin()]
    every = np.stack(
        [_cheaper(current, row, least, worth, seconds, rng, budget) for row in promising]
    )
    return Placement(problem, best_with_fewest_moves(current, every, worth(every)))


def _on_one_device(problem: Problem) -> list[Ints]:
    """Return the feasible placements, (V,), of all operators on one of the first devices."""
    rules, devices = problem.feasibility, range(min(len(problem.cluster.devices), MAX_SINGLE))
    rows = [np.full(len(rules.unit_of), d, dtype=np.int32) for d in devices]
    return [row for row in rows if rules.violation(row) is None]


def _cheaper(
    current: Current,
    row: Ints,
    least: Ints,
    worth: Worth,
    seconds: Floats,
    rng: np.random.Generator,
    budget: Budget,
) -> Ints:
    """Return a placement, (V,), worth at least as much, after searches for one of less cost.

    Parameters
    ----------
    least
        (V,) the placement of least cost, from which these searches start.
    """
    while True:
        row = polished(current, row, worth, budget)
        limit = float(current.costs(row[None], seconds)[0]) * BELOW
        if limit < current.costs(least[None], seconds)[0] or budget.left() == 0:
            return row
        other = _annealed(current, [least], seconds, limit, rng, budget.share(REFINED))
        other = polished(current, other, worth, budget)
        if worth(other[None])[0] <= worth(row[None])[0] + GAIN:
            return row
        row = other


def _annealed(
    current: Current,
    rows: list[Ints],
    migration_cost: Floats,
    limit: float,
    rng: np.random.Generator,
    budget: Budget,
) -> Ints:
    """Return the best placement found, (V,), whose moves cost at most `limit`."""
    return best_of_chains(
        current.problem,
        rng,
        rows,
        budget,
        current_device=current.devices,
        migration_cost=migration_cost,
        migration_budget=limit,
    ).devices


def _few(problem: Problem) -> int:
    """Return how many placements may all be tried."""
    return FEW if evaluator(problem).best_possible is not None else FEW_SLOW


def _largest_cost(current: Current, staying: Ints, price: float, seconds: Floats) -> float:
    """Return the cost beyond which no gain in relative throughput is worth its price."""
    possible = evaluator(current.problem).best_possible
    least = float(qualities_of_rows(current.problem, staying[None])[0])
    gain = (1.0 if possible is None else possible) - max(least, 0.0)
    paid = float(current.costs(staying[None], seconds)[0])
    return paid + gain / price if price > 0 else np.inf


def _limits(current: Current, staying: Ints, seconds: Floats, largest: float) -> list[float]:
    """Return limits to search: from the cheapest move to all moves, evenly spaced by ratio."""
    settled = seconds[current.devices >= 0]
    paying = settled[settled > 0]
    if not len(paying):
        return []
    paid = float(current.costs(staying[None], seconds)[0])
    most = max(min(float(paying.sum()), largest - paid), float(paying.min()))
    return [paid + float(x) for x in np.geomspace(paying.min(), most, BUDGETS)]
