"""The optimum under `path-average`, by scoring all placements that could be better."""

import numpy as np

from sim.exact import enumerate_above, walk
from streamplace.placers.exact.decision import hardness, identical_devices
from streamplace.placers.exact.incumbent import Incumbent
from streamplace.placers.search.annealing import Budget
from streamplace.problem.placement import Placement
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput_where_scored
from streamplace.util.arrays import Ints

ROWS = 256  # placements scored per call; with more, a better bound would be used later
STEPS = 100_000  # search steps between two checks of the time


def enumerate_all(incumbent: Incumbent, clock: Budget) -> None:
    """Score every placement that could be better, until all are done or time is up.

    With several source rates, the highest decides which placements could be better.
    """
    problem = incumbent.problem
    instance, arrays = compiled(problem).instance, flow(problem)
    order = np.argsort(-hardness(problem, instance), kind="stable").astype(np.int32)
    at = walk(instance, identical_devices(problem), order)
    rows: Ints = np.empty((ROWS, arrays.operators), np.int32)
    done = False
    while not (done or incumbent.closed) and clock.seconds_left() > 0:
        target = arrays.nominal_sink_tuples * (incumbent.rate_to_beat / problem.source_rate)
        count, done = enumerate_above(
            instance,
            arrays.columns,
            arrays.sinks,
            problem.feasibility.unit_of,
            at,
            target,
            rows,
            STEPS,
        )
        if count:
            reached = throughput_where_scored(problem, rows[:count])
            top = int(reached.argmax())
            incumbent.offer(Placement(problem, rows[top]), float(reached[top]))
    if done:
        incumbent.none_reaches(incumbent.rate_to_beat)
