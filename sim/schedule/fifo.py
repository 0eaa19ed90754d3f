"""Makespans under FIFO: one queue entry per operator, in the order of becoming runnable.

The operators of a device start in the order in which they became runnable, so that whatever starts
one of them is known when it leaves the queue, and neither ends nor transfers need events. On a
device of one core they also end in that order, so that its messages can be put on their channels at
once. The kernel therefore serves every multicast under ``FREE``, and under ``EGRESS`` and ``PAIR``
where all devices have one core; `engine` serves the rest, and agrees with it exactly.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.cores import first_cores, free_from, keep_cores
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.schedule.channels import (
    Channels,
    arrival_at,
    channel_count,
    channels_of,
    free_channels,
    send,
)
from streamplace.sim.schedule.queues import NOTHING, Events, insert, no_events, pop, push
from streamplace.sim.schedule.task_graph import FREE, NIC, NONE, Columns, seconds_on

WIDE = 256  # operators on a level from which a binary heap is faster than a sorted list
BEYOND = 1.0 + 1e-9  # times the limit, which sums in another order do not reach by rounding


class FifoMemory(NamedTuple):
    """The working memory of the kernel."""

    order: Ints  # (V,) operators as they left the queue
    cause: Ints  # (V,) the operator that each one waited for last, or -1
    ready: Floats  # (V,) seconds; the start of operators that have left the queue
    duration: Floats  # (V,) seconds on the device of each operator, in passes without `load`
    waiting: Ints  # (V,) inputs that are not counted yet
    previous: Ints  # (D,) the last operator of each device
    last: Ints  # (1,) the operator that ended last
    when: Floats  # (V,) the queue, sorted by (ready, operator)
    heap: Events  # the queue of wide graphs
    clock: Floats  # (N,) seconds: the next three arrays and those of `channels` are parts of it
    free: Floats  # (D,) moment from which a device of one core is free
    done: Floats  # (D,) work of operators that have left the queue, over all cores of the device
    core: Floats  # moments from which cores are free, sorted by device
    load: Floats  # (D,) work of all operators of each device, of the placement that is tried
    kept_load: Floats  # (D,) that of the placement from which it differs
    first_core: Ints  # (D + 1,) index of each device's first core; empty if each has one
    channels: Channels
    wide: bool


def fifo_memory(tasks: Columns) -> FifoMemory:
    """Return the working memory for one task graph."""
    operators, devices = len(tasks.work), len(tasks.speed)
    wide = bool(np.bincount(tasks.level).max() > WIDE)
    several = bool(np.any(tasks.device_cores > 1))
    first_core = first_cores(tasks.device_cores, tasks.cores)
    cores = int(first_core[-1]) if several else 0
    parts = np.cumsum([devices, devices, cores, channel_count(tasks)])
    clock = np.zeros(int(parts[-1]))
    free, done, core, channels = np.split(clock, parts[:-1])
    ints = np.int32
    return FifoMemory(
        order=np.arange(operators, dtype=ints),
        cause=np.empty(operators, ints),
        ready=np.empty(operators),
        duration=np.empty(operators),
        waiting=np.empty(operators, ints),
        previous=np.empty(devices, ints),
        last=np.zeros(1, ints),
        when=np.empty(operators),
        heap=no_events(operators if wide else 0),
        clock=clock,
        free=free,
        done=done,
        core=core,
        load=np.zeros(devices),
        kept_load=np.zeros(devices),
        first_core=first_core if several else np.empty(0, ints),
        channels=channels_of(tasks, channels),
        wide=wide,
    )


def serves(tasks: Columns) -> bool:
    """Return whether the kernel computes the makespans of a task graph under FIFO.

    On a channel, messages of an operator that takes no time may precede those of the operator
    before it, which this kernel has already sent.
    """
    if tasks.barrier or tasks.has_jobs or tasks.network == NIC:
        return False
    # Without channels, messages do not wait for each other, whatever cores a device has.
    if tasks.network == FREE:
        return True
    senders = np.unique(tasks.source[~tasks.silent]).astype(np.int32)
    return bool(np.all(tasks.device_cores == 1)) and not _may_be_instant(tasks, senders)


@kernel
def _may_be_instant(tasks: Columns, operators: Ints) -> bool:
    """Return whether some of these operators takes no time on some device."""
    for v in operators:
        for d in range(tasks.speed.shape[0]):
            if seconds_on(tasks, v, d) == 0.0:
                return True
    return False


@bare
def fifo_makespan(  # noqa: PLR0912, PLR0915 - a call per operator would cost a fifth of the speed
    tasks: Columns, devices: Ints, memory: FifoMemory, limit: float, load: Floats | None
) -> float:
    """Return the makespan of one placement, in seconds, or infinity if it exceeds `limit`.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    load
        (D,) work of all operators of each device, as `change` computes it. With it, a pass is
        stopped as soon as it cannot stay within the limit: when the work that a device still has to
        do would end too late. None is faster for passes that are not stopped.
    """
    when, what, ready, waiting = memory.when, memory.order, memory.ready, memory.waiting
    free, target, cause = memory.free, tasks.target, memory.cause
    table = tasks.seconds.shape[0] > 0
    several, wide = memory.first_core.shape[0] > 0, memory.wide
    shared = tasks.multicast != NONE
    too_late = limit * BEYOND
    if load is None:
        for v in range(devices.shape[0]):  # apart from the loop below, whose reads wait for others
            a = devices[v]
            seconds = tasks.seconds[v, tasks.class_of[a]] if table else seconds_on(tasks, v, a)
            memory.duration[v] = seconds
    head, makespan, tail = 0, 0.0, _begin(tasks, memory)
    while head < tail:
        if wide:
            what[head] = pop(memory.heap)
        v = int(what[head])
        head += 1
        a = devices[v]
        if load is None:
            seconds = memory.duration[v]
        else:
            seconds = tasks.seconds[v, tasks.class_of[a]] if table else seconds_on(tasks, v, a)
        start = ready[v]
        if free[a] > start:
            start = free[a]
            cause[v] = memory.previous[a]
        memory.previous[a] = v
        if several:
            start = _occupied(tasks, memory, v, a, start, seconds)
            free[a] = start
            end = start + seconds
        else:
            end = start + seconds
            free[a] = end + tasks.startup_s[a] if seconds > 0.0 else end
        ready[v] = start
        if load is not None:
            # What the device still has to do would end too late.
            if start + (load[a] - memory.done[a]) > too_late:
                makespan = np.inf
                break
            memory.done[a] += _share(tasks, v, a, seconds)
        if end > makespan:
            makespan = end
            memory.last[0] = v
            if end > limit:
                break
        if shared:
            send(tasks, devices, memory.channels, v, end)
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            w = target[k]
            arrival = arrival_at(tasks, memory.channels, k, a, devices[w], end)
            if arrival > ready[w]:
                ready[w] = arrival
                cause[w] = v
            waiting[w] -= 1
            if waiting[w] == 0:
                if wide:
                    push(memory.heap, ready[w], w)
                else:
                    insert(when, what, head, tail, ready[w], w)
                tail += 1
    free_channels(tasks, devices, memory.channels)
    return makespan if makespan <= limit else np.inf


@bare
def _begin(tasks: Columns, memory: FifoMemory) -> int:
    """Queue the operators without inputs; return their number."""
    memory.heap.size[0] = memory.last[0] = 0
    for d in range(memory.free.shape[0]):
        memory.channels.lead_of[d] = memory.previous[d] = NOTHING
    for i in range(memory.clock.shape[0]):
        memory.clock[i] = 0.0
    tail = 0
    for v in range(memory.ready.shape[0]):
        memory.waiting[v], memory.ready[v], memory.cause[v] = tasks.inputs[v], 0.0, NOTHING
        if tasks.inputs[v] == 0:
            tail = _queue(memory, tail, v)
    return tail


@bare
def _queue(memory: FifoMemory, tail: int, v: int) -> int:
    """Append an operator to the queue, whose new length is returned."""
    if memory.wide:
        push(memory.heap, memory.ready[v], v)
    else:
        memory.when[tail], memory.order[tail] = memory.ready[v], v
    return tail + 1


@bare
def _share(tasks: Columns, v: int, d: int, seconds: float) -> float:
    """Return the work of an operator in seconds of a whole device, with all cores."""
    cores = tasks.device_cores[d]
    return float(seconds if cores == 1 else seconds * min(tasks.cores[v], cores) / cores)


@bare
def begin_change(memory: FifoMemory) -> None:
    """Let changes begin with the placement that was kept."""
    for d in range(memory.load.shape[0]):
        memory.load[d] = memory.kept_load[d]


@bare
def change(tasks: Columns, memory: FifoMemory, v: int, a: int, b: int) -> None:
    """Move the work of an operator from device a to b."""
    memory.load[a] -= _share(tasks, v, a, seconds_on(tasks, v, a))
    memory.load[b] += _share(tasks, v, b, seconds_on(tasks, v, b))


@bare
def is_overloaded(memory: FifoMemory, limit: float) -> bool:
    """Return whether a device has more work than it can do within a limit, in seconds."""
    most = 0.0
    for d in range(memory.load.shape[0]):
        most = max(most, memory.load[d])
    return most > limit * BEYOND


@bare
def keep(memory: FifoMemory) -> None:
    """Let later changes begin with the placement of the last pass, which ended within its limit."""
    for d in range(memory.load.shape[0]):
        memory.kept_load[d] = memory.done[d]


@bare
def _occupied(
    tasks: Columns, memory: FifoMemory, v: int, d: int, earliest: float, seconds: float
) -> float:
    """Occupy the cores of an operator on a device of several; return the moment of its start."""
    first_core, cores = memory.first_core, tasks.cores[v]
    start = max(earliest, free_from(memory.core, first_core, d, cores))
    released = start + seconds
    if seconds > 0.0:
        released += tasks.startup_s[d]
    keep_cores(memory.core, first_core, d, cores, released)
    return float(start)
