"""Steepest ascent on the score, one unit at a time."""

import numpy as np

from sim import work_clock
from streamplace.placers.search.annealing import Budget
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities_of_rows

BETTER = 1.0 + 1e-9  # smallest factor that counts as an improvement
MAX_SCORED = 4_000_000  # operators x placements that one step may score


def climb(problem: Problem, start: Placement, budget: Budget) -> Placement:
    """Return a placement that no move of one unit improves, or the last one when the budget ends.

    If one step would score too many placements, return `start`.
    """
    rules = problem.feasibility
    units, targets = np.nonzero(rules.allowed)
    if len(units) * len(start.devices) > MAX_SCORED:
        return start
    moves = rules.unit_of == units[:, None]
    best, reached = start, float(qualities_of_rows(problem, start.devices[None])[0])
    while budget.left() > 0:
        begun = work_clock.now()
        rows = np.where(moves, targets[:, None].astype(np.int32), best.devices)
        scored = qualities_of_rows(problem, rows)
        budget.charge(len(rows), work_clock.now() - begun)
        order = np.argsort(-scored, kind="stable")
        better = order[: np.count_nonzero(scored > reached * BETTER)]
        chosen = next((i for i in better if rules.violation(rows[i]) is None), None)
        if chosen is None:
            break
        best, reached = Placement(problem, rows[chosen]), float(scored[chosen])
    return best
