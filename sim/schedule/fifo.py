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
from sim.jit import bare, kernel
from sim.schedule.lists import inputs_of
from sim.schedule.queues import (
    NOTHING,
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
SHORTEST, WORDS = 6, 8  # operators between two copies of the clocks; most numbers per operator
BEYOND = 1.0 + 1e-9  # times the limit, which sums in another order do not reach by rounding


class Record(NamedTuple):
    """What a later pass needs to resume this one in its course.

    The clocks are kept before every `interval`-th operator that leaves the queue: row r is the
    state before operator r * interval.
    """

    order: Ints  # (V,) operators as they left the queue
    position: Ints  # (V,) place of each operator in that order
    released: Ints  # (V,) place of the operator whose input was the last that each one got, or -1
    cause: Ints  # (V,) the operator that each one waited for last, or -1
    arrival: Floats  # (E,) moment at which the input of each stream counts
    load: Floats  # (D,) work of all operators of each device
    clock: Floats  # (R, N) `FifoMemory.clock`
    previous: Ints  # (R, D) `FifoMemory.previous`
    queued: Ints  # (R,) length of the queue
    makespan: Floats  # (R,) end of the operator that ended last so far
    last: Ints  # (R,) this operator


class FifoMemory(NamedTuple):
    """The working memory of the kernel."""

    ready: Floats  # (V,) seconds; the start of operators that have left the queue
    duration: Floats  # (V,) seconds on the device of each operator, in passes that are not kept
    waiting: Ints  # (V,) inputs that are not counted yet
    visited: Ints  # (V,) the pass in which an operator last got an input
    turn: Ints  # (1,) the number of this pass
    previous: Ints  # (D,) the last operator of each device
    last: Ints  # (1,) the operator that ended last
    when: Floats  # (V,) the queue, sorted by (ready, operator)
    heap: Events  # the queue of wide graphs
    clock: Floats  # (N,) seconds: the next four arrays, which are parts of it
    free: Floats  # (D,) moment from which a device of one core is free
    done: Floats  # (D,) work of operators that have left the queue, over all cores of the device
    core: Floats  # moments from which cores are free, sorted by device
    channel: Floats  # (C,) moment from which each channel is free
    load: Floats  # (D,) work of all operators of each device, or less
    first_core: Ints  # (D + 1,) index of each device's first core; empty if each has one
    lead: Ints  # (D,) stream that carries the message of the current producer to each device
    lead_of: Ints  # (D,) the producer that it belongs to
    size: Floats  # (D,) bits of that message
    lands: Floats  # (D,) moment at which it arrives
    first_in: Ints  # (V + 1,) index of each operator's first input
    input: Ints  # (E,) streams by target
    wide: bool
    interval: int  # operators between two rows of the clocks
    now: Record  # of the pass that was computed last
    kept: Record  # of the pass that others resume


def fifo_memory(tasks: Columns) -> FifoMemory:
    """Return the working memory for one task graph."""
    operators, streams, devices = len(tasks.work), len(tasks.target), len(tasks.speed)
    wide = bool(np.bincount(tasks.level).max() > WIDE)
    several = bool(np.any(tasks.device_cores > 1))
    first_core = first_cores(tasks.device_cores, tasks.cores)
    channels = {FREE: 0, PAIR: devices * devices}.get(tasks.network, devices)
    parts = np.cumsum([devices, devices, int(first_core[-1]) if several else 0, channels])
    clock = np.zeros(int(parts[-1]))
    free, done, core, channel = np.split(clock, parts[:-1])
    interval = max(SHORTEST, len(clock) // WORDS)
    first_in, inputs = inputs_of(tasks)
    ints = np.int32

    def record() -> Record:
        rows = (operators - 1) // interval + 1
        return Record(
            order=np.arange(operators, dtype=ints),
            position=np.arange(operators, dtype=ints),
            released=np.where(tasks.inputs > 0, operators, NOTHING).astype(ints),
            cause=np.empty(operators, ints),
            arrival=np.empty(streams),
            load=np.zeros(devices),
            clock=np.zeros((rows, len(clock))),
            previous=np.full((rows, devices), NOTHING, ints),
            queued=np.full(rows, np.count_nonzero(tasks.inputs == 0), ints),
            makespan=np.zeros(rows),
            last=np.zeros(rows, ints),
        )

    return FifoMemory(
        ready=np.empty(operators),
        duration=np.empty(operators),
        waiting=np.empty(operators, ints),
        visited=np.zeros(operators, ints),
        turn=np.zeros(1, ints),
        previous=np.empty(devices, ints),
        last=np.zeros(1, ints),
        when=np.empty(operators),
        heap=no_events(operators if wide else 0),
        clock=clock,
        free=free,
        done=done,
        core=core,
        channel=channel,
        load=np.zeros(devices),
        first_core=first_core if several else np.empty(0, ints),
        lead=np.empty(devices, ints),
        lead_of=np.empty(devices, ints),
        size=np.empty(devices),
        lands=np.empty(devices),
        first_in=first_in,
        input=inputs,
        wide=wide,
        interval=interval,
        now=record(),
        kept=record(),
    )


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


@bare
def fifo_makespan(  # noqa: PLR0912, PLR0915 - a call per operator would cost a fifth of the speed
    tasks: Columns, devices: Ints, memory: FifoMemory, limit: float, changed: int | None
) -> float:
    """Return the makespan of one placement, in seconds, or infinity if it exceeds `limit`.

    A pass that can be resumed is stopped as soon as it cannot stay within the limit: when the work
    that a device still has to do would end too late.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    changed
        The number of operators that leave the queue before the placement makes a difference to the
        kept pass (see `change`); 0 for a pass from the beginning. None for one from the beginning
        that is not kept: numba compiles a version that records nothing, which is faster.
    """
    when, what, ready, waiting = memory.when, memory.now.order, memory.ready, memory.waiting
    visited, free, target = memory.visited, memory.free, tasks.target
    cause, arrivals = memory.now.cause, memory.now.arrival
    table = tasks.seconds.shape[0] > 0
    several, wide = memory.first_core.shape[0] > 0, memory.wide
    shared = tasks.multicast != NONE
    direct = tasks.network == FREE and not shared
    if changed is None:
        head, makespan, tail = 0, 0.0, _begin(tasks, memory)
        for v in range(devices.shape[0]):  # apart from the loop below, whose reads wait for others
            a = devices[v]
            seconds = tasks.seconds[v, tasks.class_of[a]] if table else seconds_on(tasks, v, a)
            memory.duration[v] = seconds
    else:
        row = changed // memory.interval
        first = head = row * memory.interval
        if _is_overloaded(memory, row, limit):
            return np.inf
        makespan, too_late = memory.kept.makespan[row], limit * BEYOND
        row, next_row = row + 1, head + memory.interval
        tail = _resume(tasks, memory, head)
        turn = memory.turn[0]
    while head < tail:
        if changed is not None and head == next_row:
            _note(memory, row, tail - head, makespan)
            row, next_row = row + 1, next_row + memory.interval
        if wide:
            what[head] = pop(memory.heap)
        v = int(what[head])
        head += 1
        a = devices[v]
        if changed is None:
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
        if changed is not None:
            if start + (memory.load[a] - memory.done[a]) > too_late:
                makespan = np.inf
                break
            memory.done[a] += _share(tasks, v, a, seconds)
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
                    arrival = memory.lands[b]
                else:
                    arrival = _sent(tasks, memory, k, a, b, end)
            if changed is not None:
                arrivals[k] = arrival
                if visited[w] != turn:
                    visited[w] = turn
                    _take_up(tasks, memory, first, w)
            if arrival > ready[w]:
                ready[w] = arrival
                cause[w] = v
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
def _is_overloaded(memory: FifoMemory, row: int, limit: float) -> bool:
    """Return whether the work that some device has left takes too long, however it is ordered."""
    clock, devices = memory.kept.clock, memory.load.shape[0]
    for d in range(devices):
        left = memory.load[d] - clock[row, devices + d]
        if left > limit * (BEYOND - 1.0) and clock[row, d] + left > limit * BEYOND:
            return True  # a device with nothing left may be at rest for longer
    return False


@bare
def _begin(tasks: Columns, memory: FifoMemory) -> int:
    """Queue the operators without inputs; return their number."""
    memory.heap.size[0] = memory.last[0] = 0
    for d in range(memory.free.shape[0]):
        memory.lead_of[d] = memory.previous[d] = NOTHING
    for i in range(memory.clock.shape[0]):
        memory.clock[i] = 0.0
    tail = 0
    for v in range(memory.ready.shape[0]):
        memory.waiting[v], memory.ready[v], memory.now.cause[v] = tasks.inputs[v], 0.0, NOTHING
        if tasks.inputs[v] == 0:
            tail = _queue(memory, tail, v)
    return tail


@bare
def _queue(memory: FifoMemory, tail: int, v: int) -> int:
    """Append an operator to the queue, whose new length is returned."""
    if memory.wide:
        push(memory.heap, memory.ready[v], v)
    else:
        memory.when[tail], memory.now.order[tail] = memory.ready[v], v
    return tail + 1


@bare
def _resume(tasks: Columns, memory: FifoMemory, first: int) -> int:
    """Return to the kept pass before an operator leaves the queue; return the end of the queue."""
    kept = memory.kept
    row = first // memory.interval
    memory.turn[0] += 1
    if first == 0:  # most operators are soon visited, and have no inputs yet
        memory.visited[:] = memory.turn[0]
        return _begin(tasks, memory)
    memory.heap.size[0] = 0
    for d in range(memory.free.shape[0]):
        memory.lead_of[d] = NOTHING
        memory.previous[d] = kept.previous[row, d]
    for i in range(memory.clock.shape[0]):
        memory.clock[i] = kept.clock[row, i]
    memory.last[0] = kept.last[row]
    i, tail = first, first
    while tail < first + kept.queued[row]:
        v = kept.order[i]
        i += 1
        if kept.released[v] < first:
            _take_up(tasks, memory, first, v)
            tail = _queue(memory, tail, v)
    return tail


@bare
def _take_up(tasks: Columns, memory: FifoMemory, first: int, v: int) -> None:
    """Count the inputs that an operator got before the pass was resumed."""
    kept, ready, cause = memory.kept, 0.0, NOTHING
    waiting = tasks.inputs[v]
    for j in range(memory.first_in[v], memory.first_in[v + 1]):
        e = memory.input[j]
        u = tasks.source[e]
        if kept.position[u] < first:
            waiting -= 1
            later = kept.arrival[e] > ready
            is_equal = cause != NOTHING and kept.arrival[e] == ready
            if later or (is_equal and kept.position[u] < kept.position[cause]):
                ready, cause = kept.arrival[e], u
    memory.waiting[v], memory.ready[v], memory.now.cause[v] = waiting, ready, cause


@bare
def _share(tasks: Columns, v: int, d: int, seconds: float) -> float:
    """Return the work of an operator in seconds of a whole device, with all cores."""
    cores = tasks.device_cores[d]
    return float(seconds if cores == 1 else seconds * min(tasks.cores[v], cores) / cores)


@bare
def _note(memory: FifoMemory, row: int, queued: int, makespan: float) -> None:
    """Keep the clocks of the pass at this moment."""
    now = memory.now
    for i in range(memory.clock.shape[0]):
        now.clock[row, i] = memory.clock[i]
    for d in range(memory.previous.shape[0]):
        now.previous[row, d] = memory.previous[d]
    now.queued[row] = queued
    now.makespan[row] = makespan
    now.last[row] = memory.last[0]


@bare
def begin_change(memory: FifoMemory) -> None:
    """Start from the placement of the kept pass."""
    for d in range(memory.load.shape[0]):
        memory.load[d] = memory.kept.load[d]


@bare
def change(tasks: Columns, memory: FifoMemory, v: int, a: int, b: int) -> int:
    """Move an operator from device a to b; return how many leave the queue before it matters.

    The first difference is in what the first producer of the operator sends, or in the operator
    itself if it has no inputs.
    """
    memory.load[a] -= _share(tasks, v, a, seconds_on(tasks, v, a))
    memory.load[b] += _share(tasks, v, b, seconds_on(tasks, v, b))
    kept = memory.kept
    first = kept.position[v]
    for j in range(memory.first_in[v], memory.first_in[v + 1]):
        first = min(first, kept.position[tasks.source[memory.input[j]]])
    return int(first)


@bare
def keep(tasks: Columns, memory: FifoMemory, changed: int) -> None:
    """Let later passes resume the last one, which ended within its limit.

    Parameters
    ----------
    changed
        As in `fifo_makespan`.
    """
    now, kept = memory.now, memory.kept
    row = changed // memory.interval
    for i in range(row * memory.interval, kept.order.shape[0]):
        v = now.order[i]
        kept.order[i], kept.position[v], kept.cause[v] = v, i, now.cause[v]
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            kept.arrival[k] = now.arrival[k]
            kept.released[tasks.target[k]] = i
    for r in range(row + 1, kept.clock.shape[0]):
        for i in range(memory.clock.shape[0]):
            kept.clock[r, i] = now.clock[r, i]
        for d in range(memory.previous.shape[0]):
            kept.previous[r, d] = now.previous[r, d]
        kept.queued[r], kept.makespan[r] = now.queued[r], now.makespan[r]
        kept.last[r] = now.last[r]
    for d in range(memory.load.shape[0]):
        kept.load[d] = memory.done[d]


@bare
def _insert(when: Floats, what: Ints, head: int, tail: int, moment: float, v: int) -> None:
    """Insert an operator into the sorted queue between `head` and `tail`."""
    i = tail
    while i > head and (when[i - 1] > moment or (when[i - 1] == moment and what[i - 1] > v)):
        when[i], what[i] = when[i - 1], what[i - 1]
        i -= 1
    when[i], what[i] = moment, v


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
        memory.lands[b] = begin + seconds + latency
        if tasks.network != FREE:
            memory.channel[channel] = begin + seconds + gap
