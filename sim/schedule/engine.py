"""The event engine of schedules: one pass of a graph under any order, network and multicast.

A moment has two phases that alternate until nothing is left to do. First, everything that happens
by itself: ends, messages that start their channels, first bytes at receivers, arrivals. Then one
operator starts. Only an operator that takes no time can cause anything at the same moment.
"""

import numpy as np

from streamplace.sim.flow import Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.schedule.channels import free_channels
from streamplace.sim.schedule.messages import (
    arrive,
    deliver,
    end_operator,
    land,
    message_precedes,
    queue_message,
    receive_seconds,
    send_seconds,
    start_channels,
)
from streamplace.sim.schedule.queues import NOTHING, pop, push
from streamplace.sim.schedule.state import (
    FIFO,
    JOINING,
    LANDING,
    OPENED,
    SEQUENCE,
    TOUCHED,
    TURN,
    Noise,
    Order,
    Run,
    line_up,
    release,
    touch,
)
from streamplace.sim.schedule.task_graph import Columns, seconds_on


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
    instant = _reset(tasks, order, noise, devices, run)
    makespan, now = 0.0, 0.0
    while True:
        while run.events.size[0] > 0 and run.events.when[0] == now:
            while run.events.size[0] > 0 and run.events.when[0] == now:
                what = pop(run.events)
                if what < tasks.work.shape[0]:
                    makespan = now
                _happen(tasks, noise, devices, run, what, now)
            start_channels(tasks, devices, run, now, not instant)
            if not (
                run.events.size[0] > 0 and run.events.when[0] == now
            ):  # all first bytes are here
                land(tasks, noise, devices, run, now, not instant)
        enqueue(tasks, order, devices, run, now)
        if not start_items(tasks, order, devices, run, now, instant, limit):
            free_channels(tasks, devices, run.channels)
            return np.inf
        if instant and not (run.events.size[0] > 0 and run.events.when[0] == now):
            start_channels(tasks, devices, run, now, True)
            land(tasks, noise, devices, run, now, True)
        if run.events.size[0] == 0:
            break
        now = run.events.when[0]
    free_channels(tasks, devices, run.channels)
    return makespan


@bare
def _happen(tasks: Columns, noise: Noise, devices: Ints, run: Run, what: int, now: float) -> None:
    """Handle an event: the end of an item, a first byte, an arrival, or rested cores."""
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    if what < operators:
        run.last[0] = what
        end_operator(tasks, noise, devices, run, what, now)
    elif what < operators + streams:
        m = what - operators
        release(run, devices[tasks.source[m]], 1, what, now)
        queue_message(run, m, now)
    elif what < operators + 2 * streams:
        k = what - operators - streams
        release(run, devices[tasks.target[k]], 1, what, now)
        deliver(tasks, run, k, now)
    elif what < operators + 3 * streams:
        run.landing[run.counts[LANDING]] = what - operators - 2 * streams
        run.counts[LANDING] += 1
    elif what < operators + 4 * streams:
        arrive(tasks, devices, run, what - operators - 3 * streams, now)
    else:
        v = what - operators - 4 * streams
        d = devices[v]
        release(run, d, min(tasks.cores[v], tasks.device_cores[d]), v, now)


@bare
def _reset(tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run) -> bool:
    """Prepare a pass; return whether some operator takes no time."""
    instant = False
    run.events.size[0] = 0
    turn = run.counts[TURN]
    run.counts[:] = 0
    run.counts[TURN] = turn
    for d in range(run.root.shape[0]):
        run.root[d] = NOTHING
        run.free[d] = tasks.device_cores[d]
        run.receiver[d] = 0.0
        run.channels.lead_of[d] = NOTHING
        run.expected[d] = NOTHING
        run.receiver_user[d] = NOTHING
        run.releaser[d] = NOTHING
        run.latest[d] = NOTHING
        run.is_touched[d] = False
    for v in range(devices.shape[0]):
        seconds = seconds_on(tasks, v, devices[v])
        if noise.operators.shape[0] > 0:
            seconds *= noise.operators[v]
        run.duration[v] = seconds
        instant |= seconds == 0.0
        run.waiting[v] = tasks.inputs[v]
        run.last_input[v] = NOTHING
        run.ready[v] = 0.0
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
                line_up(run, v)
    return instant


@bare
def enqueue(tasks: Columns, order: Order, devices: Ints, run: Run, now: float) -> None:
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
        run.joined[item] = now
        run.child[item] = NOTHING
        run.sibling[item] = NOTHING
        root = run.root[d]
        run.root[d] = item if root == NOTHING else _meld(tasks, order, run, root, item)
        touch(run, d)
    run.counts[JOINING] = 0


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
            line_up(run, run.by_level[i])
            i += 1
        run.counts[OPENED] = i


@bare
def _precedes(tasks: Columns, order: Order, run: Run, one: int, other: int) -> bool:
    """Return whether an item starts before another one on the same device, or at one moment."""
    operators = tasks.work.shape[0]
    is_job, other_is_job = one >= operators, other >= operators
    if is_job == other_is_job and not is_job and order.kind != FIFO:
        return bool(order.position[one] < order.position[other])
    if (order.kind == FIFO or (is_job and other_is_job)) and run.ready[one] != run.ready[other]:
        return bool(run.ready[one] < run.ready[other])
    if is_job != other_is_job:
        return bool(is_job)
    if is_job:
        return _job_precedes(tasks, run, one - operators, other - operators)
    return one < other


@bare
def _job_precedes(tasks: Columns, run: Run, one: int, other: int) -> bool:
    """Return whether a job precedes another one of its moment: a message, or E + a delivery."""
    streams = tasks.target.shape[0]
    if (one >= streams) != (other >= streams):
        return bool(one >= streams)
    if one < streams:
        return message_precedes(tasks, run, one, other)
    m, other_m = run.message[one - streams], run.message[other - streams]
    if m == other_m:
        return one < other
    return message_precedes(tasks, run, m, other_m)


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
def start_items(
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
            # If every operator takes time, no start causes anything at this moment, whatever the
            # order.
            if not instant:
                break
            i += 1
        if best == NOTHING:
            break
        end = _start(tasks, order, devices, run, best, at, now)
        if best < tasks.work.shape[0]:
            if end > limit:
                return False
            # It ends at this moment, and what that causes comes before the next start.
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
    run.cause[item] = NOTHING
    if run.joined[item] < now:
        in_time = run.releaser[d] != NOTHING and run.released[d] == now
        run.cause[item] = run.releaser[d] if in_time else run.latest[d]
    if item < operators:
        end = now + run.duration[item]
        run.start[item], run.end[item] = now, end
        run.free[d] -= min(tasks.cores[item], tasks.device_cores[d])
        if order.kind == SEQUENCE:
            run.expected[d] = run.following[item]
            run.latest[d] = item
    else:
        if item < operators + streams:
            end = now + send_seconds(tasks, devices, run, item - operators)
        else:
            end = now + receive_seconds(tasks, devices, run, item - operators - streams)
        run.free[d] -= 1
    push(run.events, end, item)
    return float(end)
