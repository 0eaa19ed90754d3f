"""The event engine of schedules: one pass of a graph under any order, network and multicast.

A moment has two phases that alternate until nothing is left to do. First, everything that happens
by itself: ends, messages that start their channels, first bytes at receivers, arrivals. Then one
operator starts. Only an operator that takes no time can cause anything at the same moment.
"""

import numpy as np

from sim.flow import Ints
from sim.jit import bare, kernel
from sim.schedule.channels import free_channels
from sim.schedule.dispatch import enqueue, start_items
from sim.schedule.messages import arrive, deliver, end_operator, land, queue_message, start_channels
from sim.schedule.queues import NOTHING, pop
from sim.schedule.state import LANDING, SEQUENCE, TURN, Noise, Order, Run, line_up, release
from sim.schedule.task_graph import Columns, seconds_on


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
            free_channels(tasks, devices, run.channel)
            return np.inf
        if instant and not (run.events.size[0] > 0 and run.events.when[0] == now):
            start_channels(tasks, devices, run, now, True)
            land(tasks, noise, devices, run, now, True)
        if run.events.size[0] == 0:
            break
        now = run.events.when[0]
    free_channels(tasks, devices, run.channel)
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
        run.lead_of[d] = NOTHING
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
