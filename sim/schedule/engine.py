"""The event engine of schedules: one pass of a graph under any order, network and multicast.

Items are numbered: operator v is v, the send job of message m is V + m, and its receive job is
V + E + m. A message has the number of the first stream that it serves; where a producer's message
goes to several devices, each delivery has the number of the first stream that it serves.

A moment has two phases that alternate until nothing is left to do. First, everything that happens by
itself: ends, messages that start their channels, first bytes at receivers, arrivals. Then one
operator starts. Only an operator that takes no time can cause anything at the same moment.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.schedule.queues import NOTHING, Events, no_events, pop, push
from sim.schedule.task_graph import (
    ALL,
    EGRESS,
    FREE,
    NIC,
    NONE,
    PAIR,
    Columns,
    link_between,
    seconds_on,
)

FIFO, RANKED, SEQUENCE = range(3)  # orders of the operators on a device


class Order(NamedTuple):
    """The order in which the operators of a device start."""

    kind: int  # FIFO: by the moment of becoming runnable; RANKED; SEQUENCE: RANKED as a strict list
    position: Ints  # (V,) position of each operator, smallest first; not used under FIFO
    sequence: Ints  # (V,) operators by position


class Noise(NamedTuple):
    """Factors on execution times, (V,), and on transfer times, (E,); empty where there is none."""

    operators: Floats
    streams: Floats


class Run(NamedTuple):
    """The state of one pass; after it, the times of every operator and message."""

    start: Floats  # (V,) seconds
    end: Floats  # (V,)
    duration: Floats  # (V,)
    waiting: Ints  # (V,) inputs that have not arrived
    ready: Floats  # (V + 2 E,) moment at which each item joined the queue of its device
    delivery: Ints  # (E,) the delivery that serves each stream, or -1
    message: Ints  # (E,) the message of each delivery
    may_start: Floats  # (E,) moment at which each message may start its channel
    begin: Floats  # (E,) moment at which it starts
    transfer: Floats  # (E,) seconds that it keeps the channel, without the gap
    latency: Floats  # (E,) seconds
    size: Floats  # (E,) bits
    arrival: Floats  # (E,) moment at which each delivery has arrived, before a receive job
    events: Events
    root: Ints  # (D,) first item of each device's queue
    child: Ints  # (V + 2 E,) links of the pairing heaps
    sibling: Ints
    stack: Ints  # (V + 2 E,) working memory
    free: Ints  # (D,) free cores
    channel: Floats  # (C,) moment from which each sending channel is free
    receiver: Floats  # (D,) the same for receivers
    lead: Ints  # (D,) the delivery of the current producer to each device
    lead_of: Ints  # (D,) the producer that it belongs to
    following: Ints  # (V,) next operator of the same device in a sequence
    expected: Ints  # (D,) next operator of each device in a sequence
    touched: Ints  # (D,) devices on which something may start
    is_touched: NDArray[np.bool_]  # (D,)
    starting: Ints  # (E,) messages that start their channels at this moment
    landing: Ints  # (E,) deliveries whose first byte arrives at this moment
    unfinished: Ints  # (levels,) operators and deliveries of each level that are not done
    by_level: Ints  # (V,) operators by level
    joining: Ints  # (V + 2 E,) items that join the queues of their devices at this moment
    counts: Ints  # (5,) lengths of the lists above, and operators of open levels


TOUCHED, STARTING, LANDING, JOINING, OPENED = range(5)  # indices in `counts`


def run_state(tasks: Columns) -> Run:
    """Return the memory of passes of one task graph."""
    operators, streams, devices = len(tasks.work), len(tasks.target), len(tasks.speed)
    items = operators + 2 * streams
    channels = {FREE: 0, PAIR: devices * devices}.get(tasks.network, devices)
    levels = int(tasks.level.max()) + 1
    ints = np.int32
    return Run(
        start=np.empty(operators),
        end=np.empty(operators),
        duration=np.empty(operators),
        waiting=np.empty(operators, ints),
        ready=np.empty(items),
        delivery=np.full(streams, NOTHING, ints),
        message=np.full(streams, NOTHING, ints),
        may_start=np.empty(streams),
        begin=np.empty(streams),
        transfer=np.empty(streams),
        latency=np.empty(streams),
        size=np.empty(streams),
        arrival=np.empty(streams),
        events=no_events(2 * operators + 4 * streams + 1),
        root=np.empty(devices, ints),
        child=np.empty(items, ints),
        sibling=np.empty(items, ints),
        stack=np.empty(items, ints),
        free=np.empty(devices, ints),
        channel=np.zeros(channels),
        receiver=np.empty(devices),
        lead=np.empty(devices, ints),
        lead_of=np.empty(devices, ints),
        following=np.empty(operators, ints),
        expected=np.empty(devices, ints),
        touched=np.empty(devices, ints),
        is_touched=np.zeros(devices, np.bool_),
        starting=np.empty(streams, ints),
        landing=np.empty(streams, ints),
        unfinished=np.empty(levels + 1, ints),
        by_level=np.argsort(tasks.level, kind="stable").astype(ints),
        joining=np.empty(items, ints),
        counts=np.zeros(5, ints),
    )


@kernel
def run_pass(
    tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run, limit: float
) -> float:
    """Return the makespan of one placement, in seconds, or infinity if it exceeds `limit`.

    Parameters
    ----------
    devices
        (V,) int32 device of each operator.
    run
        Memory; its arrays hold the schedule afterwards, unless `limit` was exceeded.
    """
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    instant = _reset(tasks, order, noise, devices, run)
    makespan, now = 0.0, 0.0
    while True:
        while run.events.size[0] > 0 and run.events.when[0] == now:
            while run.events.size[0] > 0 and run.events.when[0] == now:
                what = pop(run.events)
                if what < operators:
                    makespan = max(makespan, now)
                    _end(tasks, order, noise, devices, run, what, now)
                elif what < operators + streams:
                    m = np.int32(what - operators)
                    _release(tasks, run, devices[tasks.source[m]], 1)
                    _queue_message(run, m, now)
                elif what < operators + 2 * streams:
                    m = np.int32(what - operators - streams)
                    _release(tasks, run, devices[tasks.target[m]], 1)
                    _deliver(tasks, order, devices, run, m, now)
                elif what < operators + 3 * streams:
                    run.landing[run.counts[LANDING]] = what - operators - 2 * streams
                    run.counts[LANDING] += 1
                elif what < operators + 4 * streams:
                    m = np.int32(what - operators - 3 * streams)
                    _arrive(tasks, order, devices, run, m, now)
                else:
                    v = what - operators - 4 * streams
                    d = devices[v]
                    _release(tasks, run, d, min(tasks.cores[v], tasks.device_cores[d]))
            _start_channels(tasks, noise, devices, run, now)
            _land(tasks, noise, devices, run, now)
        _enqueue(tasks, order, devices, run, now)
        if not _start_items(tasks, order, devices, run, now, instant, limit):
            _forget(tasks, devices, run)
            return np.inf
        if run.events.size[0] == 0:
            break
        now = run.events.when[0]
    _forget(tasks, devices, run)
    return makespan


@bare
def _reset(tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run) -> bool:
    """Prepare a pass; return whether some operator takes no time."""
    instant = False
    run.events.size[0] = 0
    run.counts[:] = 0
    for d in range(run.root.shape[0]):
        run.root[d] = NOTHING
        run.free[d] = tasks.device_cores[d]
        run.receiver[d] = 0.0
        run.lead_of[d] = NOTHING
        run.expected[d] = NOTHING
        run.is_touched[d] = False
    for v in range(devices.shape[0]):
        seconds = seconds_on(tasks, v, devices[v])
        if noise.operators.shape[0] > 0:
            seconds *= noise.operators[v]
        run.duration[v] = seconds
        instant |= seconds == 0.0
        run.waiting[v] = tasks.inputs[v]
    if order.kind == SEQUENCE:
        for i in range(devices.shape[0] - 1, -1, -1):
            v = order.sequence[i]
            run.following[v] = run.expected[devices[v]]
            run.expected[devices[v]] = v
    if tasks.barrier:
        run.unfinished[:] = 0
        for v in range(devices.shape[0]):
            run.unfinished[tasks.level[v]] += 1
    else:
        for v in range(devices.shape[0]):
            if run.waiting[v] == 0:
                _join(run, v)
    return instant


@bare
def _forget(tasks: Columns, devices: Ints, run: Run) -> None:
    """Reset the channels that were used, since there may be many more."""
    if tasks.network == PAIR:
        for e in range(tasks.target.shape[0]):
            a, b = devices[tasks.source[e]], devices[tasks.target[e]]
            run.channel[a * devices_of(tasks) + b] = 0.0
    else:
        for c in range(run.channel.shape[0]):
            run.channel[c] = 0.0


@bare
def devices_of(tasks: Columns) -> int:
    """Return the number of devices."""
    return tasks.speed.shape[0]


@bare
def _release(tasks: Columns, run: Run, d: int, cores: int) -> None:
    run.free[d] += cores
    _touch(run, d)


@bare
def _touch(run: Run, d: int) -> None:
    if not run.is_touched[d]:
        run.is_touched[d] = True
        run.touched[run.counts[TOUCHED]] = d
        run.counts[TOUCHED] += 1


@bare
def _end(
    tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run, v: int, now: float
) -> None:
    """Free the cores of an operator, count its local inputs and make its messages."""
    a = devices[v]
    if run.duration[v] > 0.0 and tasks.startup_s[a] > 0.0:
        rested = tasks.work.shape[0] + 4 * tasks.target.shape[0] + v
        push(run.events, now + tasks.startup_s[a], rested)
    else:
        _release(tasks, run, a, min(tasks.cores[v], tasks.device_cores[a]))
    first = np.int32(NOTHING)
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k]:
            run.delivery[k] = NOTHING
            run.message[k] = NOTHING
            _count_input(tasks, order, devices, run, tasks.target[k], now)
            continue
        if tasks.multicast == NONE or run.lead_of[b] != v:
            run.lead_of[b] = v
            run.lead[b] = k
            run.delivery[k] = k
            if tasks.barrier:
                run.unfinished[tasks.level[v]] += 1
            if tasks.multicast == ALL and first != NOTHING:
                run.message[k] = first
            else:
                run.message[k] = k
                run.size[k] = 0.0
                run.transfer[k] = 0.0
                run.latency[k] = 0.0
                first = np.int32(k)
        else:
            run.delivery[k] = run.lead[b]
            run.message[k] = NOTHING  # a stream that another delivery serves
        m = run.message[run.delivery[k]]
        run.size[m] = max(run.size[m], tasks.bits[k])
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if run.delivery[k] != k:
            continue
        m = run.message[k]
        link = link_between(tasks, a, devices[tasks.target[k]])
        seconds = run.size[m] / tasks.rate[link]
        if noise.streams.shape[0] > 0:
            seconds *= noise.streams[m]
        run.transfer[m] = max(run.transfer[m], seconds)
        run.latency[m] = max(run.latency[m], tasks.latency_s[link])
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if run.delivery[k] == k and run.message[k] == k:
            run.may_start[k] = now
            if tasks.has_jobs and _send_seconds(tasks, devices, run, k) > 0.0:
                _join(run, tasks.work.shape[0] + k)
            else:
                _queue_message(run, np.int32(k), now)
    if tasks.barrier:
        run.unfinished[tasks.level[v]] -= 1


@bare
def _last_delivery(tasks: Columns, m: int) -> int:
    """Return the index after the last stream that may be a delivery of a message."""
    return tasks.end_out[tasks.source[m]] if tasks.multicast == ALL else m + 1


@bare
def _send_seconds(tasks: Columns, devices: Ints, run: Run, m: int) -> float:
    """Return the CPU time of a message at its sender, in seconds."""
    a = devices[tasks.source[m]]
    largest = 0.0
    for k in range(m, _last_delivery(tasks, m)):
        if run.delivery[k] == k and run.message[k] == m:
            link = link_between(tasks, a, devices[tasks.target[k]])
            largest = max(largest, tasks.overhead_s[link])
    return largest + tasks.overhead_s_per_bit[a] * run.size[m]


@bare
def _receive_seconds(tasks: Columns, devices: Ints, run: Run, k: int) -> float:
    """Return the CPU time of a delivery at its receiver, in seconds."""
    b = devices[tasks.target[k]]
    overhead = tasks.overhead_in_s[link_between(tasks, devices[tasks.source[k]], b)]
    return overhead + tasks.overhead_s_per_bit[b] * run.size[run.message[k]]


@bare
def _queue_message(run: Run, m: int, now: float) -> None:
    """Note that a message may start its channel at this moment."""
    run.may_start[m] = now
    run.starting[run.counts[STARTING]] = m
    run.counts[STARTING] += 1


@bare
def _message_precedes(tasks: Columns, run: Run, one: int, other: int) -> bool:
    if run.may_start[one] != run.may_start[other]:
        return run.may_start[one] < run.may_start[other]
    v, w = tasks.source[one], tasks.source[other]
    if run.end[v] != run.end[w]:
        return run.end[v] < run.end[w]
    if v != w:
        return v < w
    return one < other


@bare
def _start_channels(
    tasks: Columns, noise: Noise, devices: Ints, run: Run, now: float
) -> None:
    """Start the messages of this moment, in their order, as soon as their channels are free."""
    count = run.counts[STARTING]
    run.counts[STARTING] = 0
    for i in range(1, count):
        m = run.starting[i]
        j = i
        while j > 0 and _message_precedes(tasks, run, m, run.starting[j - 1]):
            run.starting[j] = run.starting[j - 1]
            j -= 1
        run.starting[j] = m
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    for i in range(count):
        m = run.starting[i]
        v = tasks.source[m]
        a = devices[v]
        begin = now
        gap = 0.0
        if tasks.network == PAIR:
            for k in range(m, _last_delivery(tasks, m)):
                if run.delivery[k] == k and run.message[k] == m:
                    pair = a * devices_of(tasks) + devices[tasks.target[k]]
                    begin = max(begin, run.channel[pair])
        elif tasks.network != FREE:
            begin = max(begin, run.channel[a])
        run.begin[m] = begin
        for k in range(m, _last_delivery(tasks, m)):
            if run.delivery[k] != k or run.message[k] != m:
                continue
            b = devices[tasks.target[k]]
            gap_s = tasks.gap_s[link_between(tasks, a, b)]
            gap = max(gap, gap_s)
            if tasks.network == PAIR:
                run.channel[a * devices_of(tasks) + b] = begin + run.transfer[m] + gap_s
            if tasks.network == NIC:
                push(run.events, begin + run.latency[m], operators + 2 * streams + k)
            else:
                arrival = begin + run.transfer[m] + run.latency[m]
                push(run.events, arrival, operators + 3 * streams + k)
        if tasks.network == EGRESS or tasks.network == NIC:
            run.channel[a] = begin + run.transfer[m] + gap


@bare
def _land(tasks: Columns, noise: Noise, devices: Ints, run: Run, now: float) -> None:
    """Serve the deliveries whose first byte has reached their receiver, in their order."""
    count = run.counts[LANDING]
    run.counts[LANDING] = 0
    for i in range(1, count):
        k = run.landing[i]
        j = i
        while j > 0 and _message_precedes(
            tasks, run, run.message[k], run.message[run.landing[j - 1]]
        ):
            run.landing[j] = run.landing[j - 1]
            j -= 1
        run.landing[j] = k
    for i in range(count):
        k = run.landing[i]
        m = run.message[k]
        b = devices[tasks.target[k]]
        seconds = run.size[m] / tasks.rate_in[b]
        if noise.streams.shape[0] > 0:
            seconds *= noise.streams[m]
        begin = max(now, run.receiver[b])
        run.receiver[b] = begin + seconds + tasks.gap_in_s[b]
        arrival = max(run.begin[m] + run.transfer[m] + run.latency[m], begin + seconds)
        push(run.events, arrival, tasks.work.shape[0] + 3 * tasks.target.shape[0] + k)


@bare
def _arrive(
    tasks: Columns, order: Order, devices: Ints, run: Run, k: int, now: float
) -> None:
    """Queue the receive job of a delivery, or count its inputs."""
    run.arrival[k] = now
    if tasks.has_jobs and _receive_seconds(tasks, devices, run, k) > 0.0:
        _join(run, tasks.work.shape[0] + tasks.target.shape[0] + k)
    else:
        _deliver(tasks, order, devices, run, k, now)


@bare
def _deliver(
    tasks: Columns, order: Order, devices: Ints, run: Run, k: int, now: float
) -> None:
    """Count the inputs that a delivery serves."""
    v = tasks.source[k]
    if tasks.multicast == NONE:
        _count_input(tasks, order, devices, run, tasks.target[k], now)
    else:
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            if run.delivery[e] == k:
                _count_input(tasks, order, devices, run, tasks.target[e], now)
    if tasks.barrier:
        run.unfinished[tasks.level[v]] -= 1


@bare
def _count_input(
    tasks: Columns, order: Order, devices: Ints, run: Run, w: int, now: float
) -> None:
    run.waiting[w] -= 1
    if run.waiting[w] == 0 and not tasks.barrier:
        _join(run, w)


@bare
def _open_levels(tasks: Columns, run: Run) -> None:
    """Let the operators of a level join if the levels before are done."""
    while True:
        i = run.counts[OPENED]
        if i == tasks.level.shape[0]:
            return
        level = tasks.level[run.by_level[i]]
        if level > 0 and run.unfinished[level - 1] > 0:
            return
        while i < tasks.level.shape[0] and tasks.level[run.by_level[i]] == level:
            _join(run, run.by_level[i])
            i += 1
        run.counts[OPENED] = i


@bare
def _precedes(tasks: Columns, order: Order, run: Run, one: int, other: int) -> bool:
    """Return whether an item starts before another one on the same device, or at one moment."""
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    is_job, other_is_job = one >= operators, other >= operators
    if order.kind == FIFO and run.ready[one] != run.ready[other]:
        return run.ready[one] < run.ready[other]
    if is_job != other_is_job:
        return is_job
    if not is_job:
        if order.kind == FIFO:
            return one < other
        return order.position[one] < order.position[other]
    if run.ready[one] != run.ready[other]:
        return run.ready[one] < run.ready[other]
    receives, other_receives = one >= operators + streams, other >= operators + streams
    if receives != other_receives:
        return receives
    k, other_k = (one - operators) % streams, (other - operators) % streams
    if receives:
        m, other_m = run.message[k], run.message[other_k]
        if m == other_m:
            return k < other_k
        return _message_precedes(tasks, run, m, other_m)
    return _message_precedes(tasks, run, k, other_k)


@bare
def _join(run: Run, item: int) -> None:
    """Note that an item joins the queue of its device at this moment."""
    run.joining[run.counts[JOINING]] = item
    run.counts[JOINING] += 1


@bare
def _enqueue(tasks: Columns, order: Order, devices: Ints, run: Run, now: float) -> None:
    """Add the items that join at this moment to the queues of their devices."""
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    if tasks.barrier:
        _open_levels(tasks, run)
    for i in range(run.counts[JOINING]):
        item = run.joining[i]
        if item < operators:
            d = devices[item]
        elif item < operators + streams:
            d = devices[tasks.source[item - operators]]
        else:
            d = devices[tasks.target[item - operators - streams]]
        run.ready[item] = now
        run.child[item] = NOTHING
        run.sibling[item] = NOTHING
        root = run.root[d]
        run.root[d] = item if root == NOTHING else _meld(tasks, order, run, root, item)
        _touch(run, d)
    run.counts[JOINING] = 0


@bare
def _meld(tasks: Columns, order: Order, run: Run, one: int, other: int) -> int:
    """Join two pairing heaps; return the root."""
    if _precedes(tasks, order, run, other, one):
        one, other = other, one
    run.sibling[other] = run.child[one]
    run.child[one] = other
    return one


@bare
def _dequeue(tasks: Columns, order: Order, run: Run, d: int) -> None:
    """Remove the first item of a device's queue."""
    item = run.child[run.root[d]]
    pairs = 0
    while item != NOTHING:
        following = run.sibling[item]
        run.sibling[item] = NOTHING
        if following == NOTHING:
            run.stack[pairs] = item
            item = NOTHING
        else:
            after = run.sibling[following]
            run.sibling[following] = NOTHING
            run.stack[pairs] = _meld(tasks, order, run, item, following)
            item = after
        pairs += 1
    if pairs == 0:
        run.root[d] = NOTHING
        return
    root = run.stack[pairs - 1]
    for i in range(pairs - 2, -1, -1):
        root = _meld(tasks, order, run, root, run.stack[i])
    run.root[d] = root


@bare
def _startable(tasks: Columns, order: Order, run: Run, d: int) -> int:
    """Return the item that may start on a device now, or -1."""
    item = run.root[d]
    if item == NOTHING:
        return NOTHING
    cores = 1
    if item < tasks.work.shape[0]:
        if order.kind == SEQUENCE and run.expected[d] != item:
            return NOTHING
        cores = min(tasks.cores[item], tasks.device_cores[d])
    return item if run.free[d] >= cores else NOTHING


@bare
def _start_items(
    tasks: Columns, order: Order, devices: Ints, run: Run, now: float, instant: bool, limit: float
) -> bool:
    """Start what may start, up to the first operator that takes no time; return if in time."""
    while run.counts[TOUCHED] > 0:
        best, at = NOTHING, 0
        i = 0
        while i < run.counts[TOUCHED]:
            d = run.touched[i]
            item = _startable(tasks, order, run, d)
            if item == NOTHING:
                run.is_touched[d] = False
                run.counts[TOUCHED] -= 1
                run.touched[i] = run.touched[run.counts[TOUCHED]]
                continue
            if best == NOTHING or _precedes(tasks, order, run, item, best):
                best, at = item, d
            if not instant:
                break
            i += 1
        if best == NOTHING:
            break
        end = _start(tasks, order, devices, run, best, at, now)
        if best < tasks.work.shape[0]:
            if end > limit:
                return False
            if end == now:
                break
    return True


@bare
def _start(
    tasks: Columns, order: Order, devices: Ints, run: Run, item: int, d: int, now: float
) -> float:
    """Start the first item of a device's queue; return the moment of its end."""
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    _dequeue(tasks, order, run, d)
    if item < operators:
        end = now + run.duration[item]
        run.start[item], run.end[item] = now, end
        run.free[d] -= min(tasks.cores[item], tasks.device_cores[d])
        if order.kind == SEQUENCE:
            run.expected[d] = run.following[item]
    else:
        if item < operators + streams:
            end = now + _send_seconds(tasks, devices, run, item - operators)
        else:
            end = now + _receive_seconds(tasks, devices, run, item - operators - streams)
        run.free[d] -= 1
    push(run.events, end, item)
    return end
