"""First-improvement climbs of makespans: annealing at no temperature, by moves of one unit."""

import numpy as np

from sim import work_clock
from sim.schedule.anneal import Cooling
from sim.schedule.walk import Shares
from streamplace.placers.scheduling.annealing import NO_HEAT, REACHED, PassAnnealer
from streamplace.placers.scheduling.passes import pass_evaluator
from streamplace.placers.search.annealing import Budget
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

MOVES = Shares(swaps=0.0, blocks=0.0, joins=0.0, critical=0.0)
SLICE = 10_000  # evaluations between two checks of the time


def climb_pass(problem: Problem, rng: np.random.Generator, row: Ints, budget: Budget) -> Ints:
    """Return a placement, (V,), that is reached from a feasible one by moves of single units.

    With the order ``any``, the climb takes place under the order that is best for the start.
    """
    scored = pass_evaluator(problem, "climb")
    annealer, order = PassAnnealer(scored, rng), scored.best(row)[1]
    enough_s = scored.compiled.bounds.best * REACHED
    while (left := budget.left()) > 0:
        length = min(left, SLICE) if budget.seconds is not None else left
        begun = work_clock.now()
        chain = annealer.chain(row, order, Cooling(length, NO_HEAT, NO_HEAT, MOVES), enough_s)
        budget.charge(chain.evaluations, work_clock.now() - begun)
        row = chain.devices
        if chain.makespan_s <= enough_s or chain.evaluations < length:
            break
    return row
