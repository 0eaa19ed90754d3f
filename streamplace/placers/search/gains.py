"""Comparison of placements by what was asked for, as moves between them must gain something."""

from collections.abc import Callable

import numpy as np

from streamplace.placers.search.balance import Prefer, may_spread, more_balanced
from streamplace.placers.search.consolidate import AS_GOOD, size_of
from streamplace.placers.search.nearby import SAME
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator, qualities_of_rows, where_scored
from streamplace.util.arrays import Ints

Better = Callable[[Ints, Ints], bool]


def better_by(problem: Problem, prefer: Prefer | None) -> Better:
    """Return a function of two placements, (V,) each: whether the first is better.

    The objective decides, and then what is preferred. Differences of `SAME` count as none.

    Parameters
    ----------
    prefer
        ``balance``: of placements that carry everything offered, or that one operator limits, those
        with lower utilisations are better (`more_balanced`). ``fewest``: of placements within 0.1%
        of the best throughput, those with fewer devices are better, and then those with less
        traffic. None: nothing but the objective counts.
    """

    def values(rows: Ints) -> tuple[float, float]:
        if problem.objective.higher_is_better:
            first, second = qualities_of_rows(problem, rows)
        else:
            first, second = where_scored(lambda tried: -evaluator(problem).loss(tried), rows)
        return float(first), float(second)

    def better(devices: Ints, than: Ints) -> bool:
        reached, before = values(np.stack([devices, than]))
        same = SAME * max(abs(reached), abs(before))
        # Both are good enough, so that the number of devices decides.
        if prefer == "fewest" and min(reached, before) >= AS_GOOD * max(reached, before):
            now, other = (size_of(problem, each) for each in (devices, than))
            for size, least in zip(now, other, strict=True):
                if abs(size - least) > SAME * max(size, least):
                    return size < least
        if prefer == "balance" and abs(reached - before) <= same:
            placements = [Placement(problem, each) for each in (devices, than)]
            return may_spread(problem, placements) and more_balanced(problem, devices, than)
        return reached > before + same

    return better
