"""The placement whose gain is worth the price of its moves."""

from collections.abc import Callable
from itertools import islice

import numpy as np

from streamplace.placers.base import Improver
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.current import moving_seconds
from streamplace.placers.search.fewer_moves import best_with_fewest_moves, polished
from streamplace.placers.search.moves_search import SEARCHED
from streamplace.placers.search.nearby import Nearby
from streamplace.placers.trivial import on_one_device
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats, Ints

LIMITS = 12  # limits on the cost of moves that are searched in turn
UNLIMITED = 0.3  # share of the search without a limit
BELOW = 1.0 - 1e-9  # factor on the cost of moves to look for a cheaper placement
REFINED = 0.2  # share of the remaining budget for each such search
MAX_SINGLE = 64  # devices on which all operators are put
POLISHED = 3  # placements of most worth from which single moves continue
Worth = Callable[[Ints], Floats]  # of placements, (K,) for (K, V)


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
    distinct = np.unique(np.stack([*found, *islice(on_one_device(problem), MAX_SINGLE)]), axis=0)
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
    search: Nearby, row: Ints, least: Ints, worth: Worth, seconds: Floats, budget: Budget
) -> Ints:
    """Return a placement, (V,), worth at least as much, after searches for one of less cost.

    Parameters
    ----------
    least
        (V,) the placement of least cost, from which these searches start.
    """
    current = search.current
    while True:
        row = polished(search, row, worth, budget)
        limit = float(current.costs(row[None], seconds)[0]) * BELOW
        if limit < current.costs(least[None], seconds)[0] or budget.left() == 0:
            return row
        other = search.annealed([least], seconds, limit, budget.share(REFINED))
        other = polished(search, other, worth, budget)
        if worth(other[None])[0] <= worth(row[None])[0] + search.gain:
            return row
        row = other


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
    return [paid + float(x) for x in np.geomspace(paying.min(), most, LIMITS)]
