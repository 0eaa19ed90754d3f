"""Makespans under FIFO: one queue entry per operator, in the order of becoming runnable.

The operators of a device start in the order in which they became runnable, so that whatever starts
one of them is known when it leaves the queue, and neither ends nor transfers need events. On a
device of one core they also end in that order, so that its messages can be put on their channels at
once. The kernel therefore serves every multicast under ``FREE``, and under ``EGRESS`` and ``PAIR``
where all devices have one core; `engine` serves the rest, and agrees with it exactly.
"""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare, inner, kernel
from sim.schedule.queues import (
    Events,
    first_cores,
    free_channels,
    free_from,
    keep_cores,
    no_events,
    pop,
    push,
)
from sim.schedule.task_graph import (
    ALL,
    FREE,
    NIC,
    NONE,
    PAIR,
    Columns,
    arrival_over,
    link_between,
    seconds_on,
)

WIDE = 256  # operators on a level from which a binary heap is faster than a sorted list


class FifoMemory(NamedTuple):
    """The working memory of the kernel."""

    ready: Floats  # (V,) seconds; the start of operators that have left the queue
    duration: Floats  # (V,)
    waiting: Ints  # (V,) inputs that are not counted yet
    cause: Ints  # (V,) the operator that each one waited for last, or -1
    previous: Ints  # (D,) the last operator of each device
    last: Ints  # (1,) the operator that ended last
    when: Floats  # (V,) the queue, sorted by (ready, operator)
    what: Ints  # (V,)
    heap: Events  # the queue of wide graphs
    free: Floats  # (D,) moment from which a device of one core is free
    core: Floats  # moments from which cores are free, sorted by device
    first_core: Ints  # (D + 1,) index of each device's first core; empty if each has one
    channel: Floats  # (C,) moment from which each channel is free
    lead: Ints  # (D,) stream that carries the message of the current producer to each device
    lead_of: Ints  # (D,) the producer that it belongs to
    size: Floats  # (D,) bits of that message
    arrival: Floats  # (D,) moment at which it arrives
    wide: bool


def serves(tasks: Columns) -> bool:
    """Return whether the kernel computes the makespans of a task graph under FIFO.

    On a channel, messages of an operator that takes no time may precede those of the operator
    before it, which this kernel has already sent.
    """
    if tasks.barrier or tasks.has_jobs or tasks.network == NIC:
        return False
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


def fifo_memory(tasks: Columns) -> FifoMemory:
    """Return the working memory for one task graph."""
    operators, devices = len(tasks.work), len(tasks.speed)
    wide = bool(np.bincount(tasks.level).max() > WIDE)
    channels = {FREE: 0, PAIR: devices * devices}.get(tasks.network, devices)
    several = bool(np.any(tasks.device_cores > 1))
    first_core = first_cores(tasks.device_cores, tasks.cores)
    return FifoMemory(
        ready=np.empty(operators),
        duration=np.empty(operators),
        waiting=np.empty(operators, np.int32),
        cause=np.empty(operators, np.int32),
        previous=np.empty(devices, np.int32),
        last=np.zeros(1, np.int32),
        when=np.empty(0 if wide else operators),
        what=np.empty(0 if wide else operators, np.int32),
        heap=no_events(operators if wide else 0),
        free=np.empty(devices),
        core=np.empty(int(first_core[-1]) if several else 0),
        first_core=first_core if several else np.empty(0, np.int32),
        channel=np.zeros(channels),
        lead=np.empty(devices, np.int32),
        lead_of=np.empty(devices, np.int32),
        size=np.empty(devices),
        arrival=np.empty(devices),
        wide=wide,
    )


@inner
def fifo_makespan(  # noqa: PLR0912, PLR0915 - a call per operator would cost a fifth of the speed
    tasks: Columns, devices: Ints, memory: FifoMemory, limit: float
) -> float:
    """Return the makespan of one placement, in seconds, or infinity if it exceeds `limit`.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    """
    when, what, ready, waiting = memory.when, memory.what, memory.ready, memory.waiting
    duration, free, target = memory.duration, memory.free, tasks.target
    several, wide = memory.first_core.shape[0] > 0, memory.wide
    shared = tasks.multicast != NONE
    direct = tasks.network == FREE and not shared
    head, tail = 0, _prepare(tasks, devices, memory)
    makespan = 0.0
    while head < tail:
        v = pop(memory.heap) if wide else int(what[head])
        head += 1
        a = devices[v]
        start = ready[v]
        if free[a] > start:
            start = free[a]
            memory.cause[v] = memory.previous[a]
        memory.previous[a] = v
        if several:
            start = _occupied(tasks, memory, v, a, start)
            free[a] = start
            end = start + duration[v]
        else:
            end = start + duration[v]
            free[a] = end + tasks.startup_s[a] if duration[v] > 0.0 else end
        ready[v] = start
        if end > makespan:
            makespan = end
            memory.last[0] = v
            if end > limit:
                break
        if shared:
            _send(tasks, devices, memory, v, end)
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            w = target[k]
            b = devices[w]
            arrival = end
            if a != b and not tasks.silent[k]:
                if direct:
                    arrival = arrival_over(tasks, end, tasks.bits[k], link_between(tasks, a, b))
                elif shared:
                    arrival = memory.arrival[b]
                else:
                    arrival = _sent(tasks, memory, k, a, b, end)
            if arrival > ready[w]:
                ready[w] = arrival
                memory.cause[w] = v
            waiting[w] -= 1
            if waiting[w] == 0:
                if wide:
                    push(memory.heap, ready[w], w)
                else:
                    _insert(when, what, head, tail, ready[w], w)
                tail += 1
    free_channels(tasks, devices, memory.channel)
    return makespan if makespan <= limit else np.inf


@bare
def _prepare(tasks: Columns, devices: Ints, memory: FifoMemory) -> int:
    """Queue the sources; return their number."""
    memory.heap.size[0] = 0
    for d in range(memory.free.shape[0]):
        memory.free[d] = 0.0
        memory.previous[d] = -1
        memory.lead_of[d] = -1
    for c in range(memory.core.shape[0]):
        memory.core[c] = 0.0
    table = tasks.seconds.shape[0] > 0
    tail = 0
    for v in range(devices.shape[0]):
        if table:
            memory.duration[v] = tasks.seconds[v, tasks.class_of[devices[v]]]
        else:
            memory.duration[v] = seconds_on(tasks, v, devices[v])
        memory.ready[v] = 0.0
        memory.cause[v] = -1
        memory.waiting[v] = tasks.inputs[v]
        if memory.waiting[v] == 0:
            if memory.wide:
                push(memory.heap, 0.0, v)
            else:
                memory.when[tail], memory.what[tail] = 0.0, v
            tail += 1
    return tail


@bare
def _insert(when: Floats, what: Ints, head: int, tail: int, moment: float, v: int) -> None:
    """Insert an operator into the sorted queue between `head` and `tail`."""
    i = tail
    while i > head and (when[i - 1] > moment or (when[i - 1] == moment and what[i - 1] > v)):
        when[i], what[i] = when[i - 1], what[i - 1]
        i -= 1
    when[i], what[i] = moment, v


@bare
def _occupied(tasks: Columns, memory: FifoMemory, v: int, d: int, earliest: float) -> float:
    """Occupy the cores of an operator on a device of several; return the moment of its start."""
    first_core, cores = memory.first_core, tasks.cores[v]
    start = max(earliest, free_from(memory.core, first_core, d, cores))
    released = start + memory.duration[v]
    if memory.duration[v] > 0.0:
        released += tasks.startup_s[d]
    keep_cores(memory.core, first_core, d, cores, released)
    return float(start)


@bare
def _sent(tasks: Columns, memory: FifoMemory, k: int, a: int, b: int, now: float) -> float:
    """Put the message of one stream on its channel; return the moment of its arrival."""
    link = link_between(tasks, a, b)
    channel = a * memory.free.shape[0] + b if tasks.network == PAIR else a
    begin = max(now, memory.channel[channel])
    memory.channel[channel] = begin + tasks.bits[k] / tasks.rate[link] + tasks.gap_s[link]
    return arrival_over(tasks, begin, tasks.bits[k], link)


@bare
def _send(tasks: Columns, devices: Ints, memory: FifoMemory, v: int, now: float) -> None:
    """Put the messages of an operator on their channels, where streams share messages."""
    a, count = devices[v], memory.free.shape[0]
    largest = 0.0
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k]:
            continue
        if memory.lead_of[b] != v:
            memory.lead_of[b] = v
            memory.lead[b] = k
            memory.size[b] = 0.0
        memory.size[b] = max(memory.size[b], tasks.bits[k])
        largest = max(largest, tasks.bits[k])
    begin, seconds, latency, gap = now, 0.0, 0.0, 0.0
    if tasks.multicast == ALL:
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            b = devices[tasks.target[k]]
            if a == b or tasks.silent[k] or memory.lead[b] != k:
                continue
            link = link_between(tasks, a, b)
            seconds = max(seconds, largest / tasks.rate[link])
            latency = max(latency, tasks.latency_s[link])
            gap = max(gap, tasks.gap_s[link])
            if tasks.network == PAIR:
                begin = max(begin, memory.channel[a * count + b])
        if tasks.network not in (PAIR, FREE):
            begin = max(begin, memory.channel[a])
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k] or memory.lead[b] != k:
            continue
        link = link_between(tasks, a, b)
        channel = a * count + b if tasks.network == PAIR else a
        if tasks.multicast != ALL:
            begin = now if tasks.network == FREE else max(now, memory.channel[channel])
            seconds = memory.size[b] / tasks.rate[link]
            latency = tasks.latency_s[link]
            gap = tasks.gap_s[link]
        memory.arrival[b] = begin + seconds + latency
        if tasks.network != FREE:
            memory.channel[channel] = begin + seconds + gap
