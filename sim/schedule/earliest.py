"""Earliest task first: of all ready operators and devices, the pair that can start first.

ETF (Hwang et al. 1989) as Baechi runs it within the memory of devices (Jeon et al. 2020, m-ETF).
Starts never decrease from one choice to the next, so that no operator is inserted before others.
"""

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.rules import NOWHERE, Placed, Rules, may_try, nothing_placed, put
from streamplace.sim.schedule.lists import (
    ListSchedule,
    core_timelines,
    fit,
    inputs_of,
    last_arrival,
    occupied,
    occupy,
)
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, seconds_on
from streamplace.sim.schedule.timelines import Timelines


def earliest_schedule(tasks: TaskGraph, rules: Rules) -> ListSchedule:
    """Place the ready operator that can start first where it does, again and again.

    Ties go to the lower index of the operator, and then of the device.
    """
    first_core, lines = core_timelines(tasks)
    placed = nothing_placed(rules)
    return ListSchedule(*_earliest_schedule(tasks.columns, rules, first_core, lines, placed))


@kernel
def _earliest_schedule(
    tasks: Columns, rules: Rules, first_core: Ints, lines: Timelines, placed: Placed
) -> tuple[Ints, Floats, Floats, bool]:
    operators, count = tasks.work.shape[0], tasks.speed.shape[0]
    devices = np.full(operators, np.int32(NOWHERE))
    start, end = np.zeros(operators), np.zeros(operators)
    waiting, arrived = tasks.inputs.copy(), np.zeros((operators, count))
    moments = np.empty(lines.first.shape[0])  # working memory
    first_in, inputs = inputs_of(tasks)
    ready, size, feasible = np.empty(operators, np.int32), 0, True
    for v in range(operators):
        if tasks.inputs[v] == 0:
            ready[size] = v
            size += 1
    while size > 0:
        place, best, best_start = NOWHERE, NOWHERE, np.inf
        # Where constraints leave no device, one that only the mask allows; the repair follows.
        for strict in (True, False):
            for i in range(size):
                v = ready[i]
                for d in range(count):
                    if not may_try(rules, placed, rules.unit_of[v], d, strict):
                        continue
                    kept = occupied(tasks, d, seconds_on(tasks, v, d))
                    moment = fit(tasks, lines, first_core, moments, v, d, arrived[v, d], kept)
                    is_tie = moment == best_start and v < ready[place]
                    if moment < best_start or is_tie:
                        place, best, best_start = i, d, moment
            if best != NOWHERE:
                break
            feasible = False
        v = ready[place]
        size -= 1
        ready[place] = ready[size]
        put(rules, placed, rules.unit_of[v], best)
        devices[v], start[v] = best, best_start
        end[v] = best_start + seconds_on(tasks, v, best)
        occupy(tasks, lines, first_core, v, best, best_start, end[v])
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            w = tasks.target[e]
            waiting[w] -= 1
            if waiting[w] == 0:
                streams = inputs[first_in[w] : first_in[w + 1]]
                for d in range(count):
                    arrived[w, d] = last_arrival(tasks, devices, end, streams, d)
                ready[size] = w
                size += 1
    return devices, start, end, feasible
