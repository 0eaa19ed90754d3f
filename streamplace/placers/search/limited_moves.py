"""The best placement within a number of moves."""

import numpy as np

from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.fewer_moves import best_with_fewest_moves, polished
from streamplace.placers.search.moves_search import SEARCHED
from streamplace.placers.search.nearby import Nearby
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Floats, Ints

PART = 0.5  # share of what is left of it for each chain


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
    while moves > necessary and chains.left() > 0:
        fewer = search.annealed([staying], each, moves - 1.0, chains.share(PART))
        if worth(fewer[None])[0] < reached - search.gain:
            break
        row, moves = fewer, int(current.moves(fewer[None])[0])
    return Placement(current.problem, row)
