"""The optimum under `path-average`: all placements that could be better, scored."""

import numpy as np

from sim.proof import enumerate_above, walk
from streamplace.arrays import Ints
from streamplace.flows import flow
from streamplace.instances import instance_of
from streamplace.placement import Placement
from streamplace.placers.annealing import Budget
from streamplace.placers.base import throughputs_of_rows
from streamplace.placers.bracket import Bracket
from streamplace.placers.claim import trouble, twins

ROWS = 256  # placements scored a call; more would leave what they show unused for longer
STEPS = 100_000  # between two looks at the clock


def enumerate_all(bracket: Bracket, clock: Budget) -> None:
    """Score every placement that could be better; none is left unless time runs out.

    Of several source rates the highest tells what could be better.
    """
    problem = bracket.problem
    job, arrays = instance_of(problem), flow(problem)
    order = np.argsort(-trouble(problem, job), kind="stable").astype(np.int32)
    at = walk(job, twins(problem), order)
    rows: Ints = np.empty((ROWS, arrays.operators), np.int32)
    done = False
    while not (done or bracket.closed) and clock.seconds_left() > 0:
        wanted = arrays.nominal_sink_tuples * (bracket.better / problem.source_rate)
        count, done = enumerate_above(
            job,
            arrays.columns,
            arrays.sinks,
            problem.feasibility.unit_of,
            at,
            wanted,
            rows,
            STEPS,
        )
        if count:
            reached = throughputs_of_rows(problem, rows[:count])
            top = int(reached.argmax())
            bracket.offer(Placement(problem, rows[top]), float(reached[top]))
    if done:
        bracket.none_reaches(bracket.better)
