"""List schedules with messages on their channels (HEFT with contention: Sinnen and Sousa 2005).

A schedule may keep the devices of some units, and build only the rest of a placement anew. Besides
the end of an operator, the choice of its device may then weigh the messages that it causes.

The messages that an operator waits for are inserted into the timelines of channels, and of
receivers under ``NIC``, in the order of the ends of their producers. CPU time of messages is left
out.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.rules import (
    NOWHERE,
    Bools,
    Placed,
    Rules,
    forget_all,
    may_try,
    nothing_placed,
    put,
)
from streamplace.sim.schedule.lists import (
    ListSchedule,
    arrival,
    core_timelines,
    fit,
    inputs_of,
    occupied,
    occupy,
    push_sources,
    push_successors,
)
from streamplace.sim.schedule.queues import Events, no_events, pop
from streamplace.sim.schedule.task_graph import (
    ALL,
    FREE,
    NIC,
    NONE,
    PAIR,
    Columns,
    TaskGraph,
    link_between,
    message_seconds,
    seconds_on,
)
from streamplace.sim.schedule.timelines import (
    Timelines,
    clear,
    clear_used,
    earliest_in_both,
    insert,
    timelines,
)


class Channels(NamedTuple):
    """The timelines of channels, and the messages that are planned for a candidate device."""

    lines: Timelines
    plans: Timelines  # of the planned messages only
    arrived: Floats  # (E,) moment at which the message of each stream arrives, once it is inserted
    resource: Ints  # (2 N,) timelines that planned messages use
    begin: Floats  # (2 N,) seconds
    end: Floats  # (2 N,)
    planned: Ints  # (1,) number of planned uses
    by_end: Ints  # (N,) inputs of the current operator by the end of their producers


def no_channels(tasks: TaskGraph) -> Channels:
    """Return the channels of a cluster without any message."""
    devices = tasks.devices
    resources = {FREE: 0, PAIR: devices * devices, NIC: 2 * devices}.get(tasks.network, devices)
    inputs = int(tasks.inputs.max())
    streams = len(tasks.source)
    return Channels(
        lines=timelines(resources, 2 * streams),
        plans=timelines(resources, 2 * inputs),
        arrived=np.full(streams, -1.0),
        resource=np.empty(2 * inputs, np.int32),
        begin=np.empty(2 * inputs),
        end=np.empty(2 * inputs),
        planned=np.zeros(1, np.int32),
        by_end=np.empty(inputs, np.int32),
    )


@bare
def clear_channels(channels: Channels) -> None:
    """Forget all messages."""
    clear(channels.lines)
    for e in range(channels.arrived.shape[0]):
        channels.arrived[e] = -1.0


@bare
def sort_inputs(tasks: Columns, channels: Channels, inputs: Ints, end: Floats) -> int:
    """List the inputs of an operator by the end of their producers; return their number."""
    for i in range(inputs.shape[0]):
        e = inputs[i]
        j = i
        while j > 0 and end[tasks.source[channels.by_end[j - 1]]] > end[tasks.source[e]]:
            channels.by_end[j] = channels.by_end[j - 1]
            j -= 1
        channels.by_end[j] = e
    return int(inputs.shape[0])


@bare
def plan(
    tasks: Columns,
    devices: Ints,
    end: Floats,
    channels: Channels,
    inputs: int,
    d: int,
    commit: bool,
) -> float:
    """Plan the messages to an operator on a device; return the moment of the last arrival.

    Parameters
    ----------
    commit
        Whether to insert them into the timelines.
    """
    clear_used(channels.plans, channels.resource, channels.planned[0])
    channels.planned[0] = 0
    latest = 0.0
    for i in range(inputs):
        e = channels.by_end[i]
        v = tasks.source[e]
        if devices[v] == d or tasks.silent[e] or tasks.network == FREE:
            moment = arrival(tasks, devices, end, e, d)
        else:
            moment = _shared(tasks, devices, channels, e, d)
            if moment < 0.0:
                moment = _plan_message(tasks, devices, end, channels, e, d)
                if commit:
                    channels.arrived[e] = moment
        latest = max(latest, moment)
    if commit:
        for i in range(channels.planned[0]):
            seconds = channels.end[i] - channels.begin[i]
            insert(channels.lines, channels.resource[i], channels.begin[i], seconds)
    return latest


@bare
def _shared(tasks: Columns, devices: Ints, channels: Channels, e: int, d: int) -> float:
    """Return the arrival of an earlier message that serves a stream, too, or -1.

    A message to one device serves another stream to it if that is not larger.
    """
    if tasks.multicast == NONE:
        return -1.0
    v = tasks.source[e]
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if channels.arrived[k] < 0.0:
            continue
        to_device = devices[tasks.target[k]] == d and tasks.bits[k] >= tasks.bits[e]
        if tasks.multicast == ALL or to_device:
            return float(channels.arrived[k])
    return -1.0


@bare
def _plan_message(
    tasks: Columns, devices: Ints, end: Floats, channels: Channels, e: int, d: int
) -> float:
    """Plan a message to a device; return the moment of its arrival."""
    v = tasks.source[e]
    a = devices[v]
    bits = tasks.bits[e]
    if tasks.multicast == ALL:
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            bits = max(bits, tasks.bits[k])
    link = link_between(tasks, a, d)
    seconds = bits / tasks.rate[link]
    channel = a * tasks.speed.shape[0] + d if tasks.network == PAIR else a
    begin = _use(channels, channel, end[v], seconds + tasks.gap_s[link])
    moment = begin + seconds + tasks.latency_s[link]
    if tasks.network == NIC:
        received = bits / tasks.rate_in[d]
        resource = tasks.speed.shape[0] + d
        first_byte = begin + tasks.latency_s[link]
        served = _use(channels, resource, first_byte, received + tasks.gap_in_s[d])
        moment = max(moment, served + received)
    return float(moment)


@bare
def _use(channels: Channels, resource: int, ready: float, seconds: float) -> float:
    """Plan the use of a timeline beside the uses planned before; return the moment of its begin."""
    moment = earliest_in_both(channels.lines, channels.plans, resource, ready, seconds)
    insert(channels.plans, resource, moment, seconds)
    i = channels.planned[0]
    channels.resource[i], channels.begin[i], channels.end[i] = resource, moment, moment + seconds
    channels.planned[0] = i + 1
    return moment


@bare
def planned_seconds(channels: Channels) -> float:
    """Return the seconds in which the messages that were planned last occupy channels."""
    seconds = 0.0
    for i in range(channels.planned[0]):
        seconds += channels.end[i] - channels.begin[i]
    return seconds


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
        # Where constraints leave no device, one that only the mask allows; the repair follows.
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
