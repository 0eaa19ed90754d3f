"""List schedulers: operators one after the other, each on the device that suits it best.

They build a separate schedule, in which an operator may be inserted into a gap between others
(HEFT and CPOP: Topcuoglu et al. 2002; PEFT: Arabnejad and Barbosa 2014). The engine, which follows
another order on each device, may need a different time for the same placement.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.cores import first_cores
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.rules import (
    NOWHERE,
    Placed,
    Rules,
    may_run,
    may_try,
    nothing_placed,
    put,
)
from streamplace.sim.schedule.queues import Events, no_events, pop, push
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, message_seconds, seconds_on
from streamplace.sim.schedule.timelines import Timelines, earliest, insert, timelines


class ListSchedule(NamedTuple):
    """The schedule that a list scheduler has built."""

    devices: Ints  # (V,) device of each operator
    start: Floats  # (V,) seconds
    end: Floats  # (V,)
    is_feasible: bool  # whether every operator found a device that its constraints allow

    @property
    def length(self) -> float:
        """The end of the last operator, in seconds."""
        return float(self.end.max())


def list_schedule(
    tasks: TaskGraph,
    rules: Rules,
    rank: Floats,
    ahead: Floats | None = None,
    preferred: Ints | None = None,
) -> ListSchedule:
    """Place the ready operator of highest rank, again and again, where it ends first.

    Ties go to the earlier start and then to the lower index of the device.

    Parameters
    ----------
    rank
        (V,) ranks; ties go to the lower index.
    ahead
        (V, D) seconds that are added to the end on each device, as by PEFT.
    preferred
        (V,) int32 device on which an operator is placed if it may run there, or -1, as by CPOP.
    """
    first_core, lines = core_timelines(tasks)
    return ListSchedule(
        *_list_schedule(
            tasks.columns,
            rules,
            rank,
            np.zeros((0, 0)) if ahead is None else ahead,
            np.full(tasks.operators, NOWHERE, np.int32) if preferred is None else preferred,
            first_core,
            lines,
            nothing_placed(rules),
            no_events(tasks.operators),
        )
    )


def core_timelines(tasks: TaskGraph) -> tuple[Ints, Timelines]:
    """Return the index of each device's first core, (D + 1,), and the empty timelines of cores."""
    first_core = first_cores(tasks.device_cores, tasks.cores)
    used = int(np.minimum(tasks.cores, tasks.device_cores.max()).sum())
    return first_core, timelines(int(first_core[-1]), used)


@kernel
def _list_schedule(
    tasks: Columns,
    rules: Rules,
    rank: Floats,
    ahead: Floats,
    preferred: Ints,
    first_core: Ints,
    lines: Timelines,
    placed: Placed,
    ready: Events,
) -> tuple[Ints, Floats, Floats, bool]:
    operators, count = tasks.work.shape[0], tasks.speed.shape[0]
    devices = np.full(operators, np.int32(NOWHERE))
    start, end = np.zeros(operators), np.zeros(operators)
    waiting = tasks.inputs.copy()
    moments = np.empty(lines.first.shape[0])  # working memory
    push_sources(tasks, rank, ready)
    first_in, inputs = inputs_of(tasks)
    feasible = True
    while ready.size[0] > 0:
        v = pop(ready)
        unit = rules.unit_of[v]
        streams = inputs[first_in[v] : first_in[v + 1]]
        best, best_end, best_start, best_value = NOWHERE, np.inf, np.inf, np.inf
        # Where constraints leave no device, one that only the mask allows; the repair follows.
        for strict in (True, False):
            for d in range(count):
                other = preferred[v]
                elsewhere = other not in (d, NOWHERE) and may_run(rules, placed, unit, other)
                if elsewhere or not may_try(rules, placed, unit, d, strict):
                    continue
                seconds = seconds_on(tasks, v, d)
                arrived = last_arrival(tasks, devices, end, streams, d)
                kept = occupied(tasks, d, seconds)
                moment = fit(tasks, lines, first_core, moments, v, d, arrived, kept)
                value = moment + seconds
                if ahead.shape[0] > 0:
                    value += ahead[v, d]
                if value < best_value or (value == best_value and moment < best_start):
                    best, best_end, best_start, best_value = d, moment + seconds, moment, value
            if best != NOWHERE:
                break
            feasible = False
        put(rules, placed, unit, best)
        devices[v], start[v], end[v] = best, best_start, best_end
        occupy(tasks, lines, first_core, v, best, best_start, best_end)
        push_successors(tasks, rank, waiting, ready, v)
    return devices, start, end, feasible


@bare
def push_sources(tasks: Columns, rank: Floats, ready: Events) -> None:
    """Queue the operators without inputs, the highest rank first."""
    for v in range(rank.shape[0]):
        if tasks.inputs[v] == 0:
            push(ready, -rank[v], v)


@bare
def push_successors(tasks: Columns, rank: Floats, waiting: Ints, ready: Events, v: int) -> None:
    """Queue the operators for which an operator that has been placed was the last input."""
    for e in range(tasks.first_out[v], tasks.end_out[v]):
        w = tasks.target[e]
        waiting[w] -= 1
        if waiting[w] == 0:
            push(ready, -rank[w], w)


@kernel
def inputs_of(tasks: Columns) -> tuple[Ints, Ints]:
    """Return the streams by target: the index of each operator's first, (V + 1,), and all, (E,)."""
    first = np.zeros(tasks.work.shape[0] + 1, np.int32)
    first[1:] = np.cumsum(tasks.inputs)
    used = np.zeros(tasks.work.shape[0], np.int32)
    streams = np.empty(tasks.target.shape[0], np.int32)
    for e in range(tasks.target.shape[0]):
        w = tasks.target[e]
        streams[first[w] + used[w]] = e
        used[w] += 1
    return first, streams


@bare
def arrival(tasks: Columns, devices: Ints, end: Floats, e: int, d: int) -> float:
    """Return the moment at which the message of a stream is on a device, if nothing delays it."""
    v = tasks.source[e]
    if devices[v] == d or tasks.silent[e]:
        return float(end[v])
    return float(end[v] + message_seconds(tasks, tasks.bits[e], devices[v], d))


@bare
def last_arrival(tasks: Columns, devices: Ints, end: Floats, streams: Ints, d: int) -> float:
    """Return the moment at which the last of some messages is on a device; 0 without messages."""
    moment = 0.0
    for i in range(streams.shape[0]):
        moment = max(moment, arrival(tasks, devices, end, streams[i], d))
    return moment


@bare
def occupied(tasks: Columns, d: int, seconds: float) -> float:
    """Return how long an operator keeps its cores, with their rest, in seconds."""
    return seconds + tasks.startup_s[d] if seconds > 0.0 else 0.0


@bare
def fit(
    tasks: Columns,
    lines: Timelines,
    first_core: Ints,
    moments: Floats,
    v: int,
    d: int,
    ready: float,
    seconds: float,
) -> float:
    """Return the first moment at which enough cores of a device are free for an operator."""
    first, cores = first_core[d], first_core[d + 1] - first_core[d]
    needed = min(tasks.cores[v], cores)
    if needed == 1:
        soonest = np.inf
        for r in range(first, first + cores):
            soonest = min(soonest, earliest(lines, r, ready, seconds))
            # No core can be free before.
            if soonest == ready:
                break
        return soonest
    while True:
        for i in range(cores):  # `moments` starts with the soonest cores, sorted
            moment = earliest(lines, first + i, ready, seconds)
            j = i
            while j > 0 and moments[j - 1] > moment:
                moments[j] = moments[j - 1]
                j -= 1
            moments[j] = moment
        if moments[needed - 1] == ready:
            return ready
        ready = moments[needed - 1]


@bare
def occupy(
    tasks: Columns, lines: Timelines, first_core: Ints, v: int, d: int, start: float, end: float
) -> None:
    """Insert an operator into the timelines of cores that are free for it."""
    seconds = occupied(tasks, d, end - start)
    needed = min(tasks.cores[v], tasks.device_cores[d])
    r = first_core[d]
    while needed > 0:
        if earliest(lines, r, start, seconds) == start:
            insert(lines, r, start, seconds)
            needed -= 1
        r += 1
