"""List schedules with messages on their channels (HEFT with contention: Sinnen and Sousa 2005).

A schedule may keep the devices of some units, and build only the rest of a placement anew. Besides
the end of an operator, the choice of its device may then weigh the messages that it causes.
"""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.schedule.lists import (
    ListSchedule,
    core_timelines,
    fit,
    inputs_of,
    occupied,
    occupy,
    push_sources,
    push_successors,
)
from sim.schedule.planned_messages import (
    Channels,
    clear_channels,
    no_channels,
    plan,
    planned_seconds,
    sort_inputs,
)
from sim.schedule.queues import Events, no_events, pop
from sim.schedule.rules import (
    NOWHERE,
    Bools,
    Placed,
    Rules,
    forget_all,
    may_try,
    nothing_placed,
    put,
)
from sim.schedule.task_graph import Columns, TaskGraph, message_seconds, seconds_on
from sim.schedule.timelines import Timelines, clear


class Memory(NamedTuple):
    """The working memory of schedules of one task graph, and the schedule built last."""

    first_core: Ints  # (D + 1,) index of each device's first core
    cores: Timelines
    channels: Channels
    placed: Placed
    ready: Events
    waiting: Ints  # (V,) inputs that are not placed yet
    moments: Floats  # (C,) for C cores
    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams by target
    devices: Ints  # (V,) device of each operator
    start: Floats  # (V,) seconds
    end: Floats  # (V,)


class Weights(NamedTuple):
    """What a device is compared by, besides the end of the operator on it."""

    received: float  # weight of the seconds in which the operator's messages occupy channels
    sent: float  # weight of the seconds of its messages to consumers on their present devices
    added_s: Floats  # (V, D) seconds that are added, or (0, 0)


class Present(NamedTuple):
    """The placement of which a part is built anew."""

    devices: Ints  # (V,) device of each operator, or -1
    is_kept: Bools  # (U,) whether a unit stays on its device


NO_WEIGHTS = Weights(0.0, 0.0, np.zeros((0, 0)))


def no_schedule(tasks: TaskGraph, rules: Rules) -> Memory:
    """Return memory for schedules."""
    first_core, cores = core_timelines(tasks)
    first_in, inputs = inputs_of(tasks.columns)
    return Memory(
        first_core,
        cores,
        no_channels(tasks),
        nothing_placed(rules),
        no_events(tasks.operators),
        tasks.inputs.copy(),
        np.empty(int(first_core[-1])),
        first_in,
        inputs,
        np.empty(tasks.operators, np.int32),
        np.empty(tasks.operators),
        np.empty(tasks.operators),
    )


def contention_schedule(tasks: TaskGraph, rules: Rules, rank: Floats) -> ListSchedule:
    """Place operators by rank where they end first, with messages that wait for their channels.

    Parameters
    ----------
    rank
        (V,) ranks; ties go to the lower index.
    """
    memory = no_schedule(tasks, rules)
    nowhere = np.full(tasks.operators, NOWHERE, np.int32)
    present = Present(nowhere, np.zeros(len(rules.row_of), np.bool_))
    feasible = schedule_part(tasks.columns, rules, rank, NO_WEIGHTS, present, memory)
    return ListSchedule(memory.devices, memory.start, memory.end, bool(feasible))


@kernel
def schedule_part(
    tasks: Columns, rules: Rules, rank: Floats, weights: Weights, present: Present, memory: Memory
) -> bool:
    """Place the operators of units that are not kept; return whether all constraints hold.

    Operators are placed by rank. A device is compared by the end of the operator on it, plus the
    weighted seconds of messages; ties go to the earlier start and then to the lower index.
    """
    _begin(tasks, rules, present, memory)
    placed, end = memory.placed, memory.end
    feasible = True
    push_sources(tasks, rank, memory.ready)
    while memory.ready.size[0] > 0:
        v = pop(memory.ready)
        unit = rules.unit_of[v]
        own = memory.inputs[memory.first_in[v] : memory.first_in[v + 1]]
        count = sort_inputs(tasks, memory.channels, own, end)
        best, best_end, best_start, best_value = NOWHERE, np.inf, np.inf, np.inf
        for strict in (True, False):
            for d in range(tasks.speed.shape[0]):
                if not may_try(rules, placed, unit, d, strict):
                    continue
                arrived = plan(tasks, memory.devices, end, memory.channels, count, d, False)
                seconds = seconds_on(tasks, v, d)
                moment = fit(
                    tasks,
                    memory.cores,
                    memory.first_core,
                    memory.moments,
                    v,
                    d,
                    arrived,
                    occupied(tasks, d, seconds),
                )
                value = moment + seconds + _weighed(tasks, weights, present, memory.channels, v, d)
                if value < best_value or (value == best_value and moment < best_start):
                    best, best_end, best_start, best_value = d, moment + seconds, moment, value
            if best != NOWHERE:
                break
            feasible = False
        plan(tasks, memory.devices, end, memory.channels, count, best, True)
        put(rules, placed, unit, best)
        memory.devices[v], memory.start[v], end[v] = best, best_start, best_end
        occupy(tasks, memory.cores, memory.first_core, v, best, best_start, best_end)
        push_successors(tasks, rank, memory.waiting, memory.ready, v)
    return feasible


@bare
def _begin(tasks: Columns, rules: Rules, present: Present, memory: Memory) -> None:
    """Empty the schedule and place the units that are kept."""
    clear(memory.cores)
    clear_channels(memory.channels)
    forget_all(rules, memory.placed)
    for v in range(tasks.work.shape[0]):
        memory.waiting[v] = tasks.inputs[v]
        memory.devices[v] = NOWHERE
        if present.is_kept[rules.unit_of[v]]:
            put(rules, memory.placed, rules.unit_of[v], present.devices[v])


@bare
def _weighed(
    tasks: Columns, weights: Weights, present: Present, channels: Channels, v: int, d: int
) -> float:
    """Return the weighted seconds of the messages that were planned last, and of later ones."""
    seconds = 0.0
    if weights.added_s.shape[0] > 0:
        seconds += weights.added_s[v, d]
    if weights.received > 0.0:
        seconds += weights.received * planned_seconds(channels)
    if weights.sent > 0.0:
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            other = present.devices[tasks.target[e]]
            if other not in (d, NOWHERE) and not tasks.silent[e]:
                seconds += weights.sent * message_seconds(tasks, tasks.bits[e], d, other)
    return seconds
