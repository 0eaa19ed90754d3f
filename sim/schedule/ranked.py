"""Makespans under fixed priorities: events of operators only, not of messages.

Without jobs, barriers and queues at receivers, the arrival of a message is known when its producer
ends. A consumer therefore needs one event, for its last input, and none if its device cannot start
it before the one that it runs has ended. `engine` serves all other cases, and agrees exactly.
"""

import numpy as np

from sim.flow import Ints
from sim.jit import bare
from sim.schedule.bit_queues import add, clear, first, remove_first
from sim.schedule.channels import arrival_at, free_channels, send
from sim.schedule.engine import run_pass
from sim.schedule.queues import NOTHING, insert, pop, push
from sim.schedule.state import RANKED, TOUCHED, Noise, Order, Run, touch
from sim.schedule.task_graph import NIC, NONE, Columns, seconds_on

GIVEN_UP = -1.0


@bare
def makespan_of(
    tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run, limit: float
) -> float:
    """Return the makespan of one placement, as `run_pass` does, by the fastest kernel of an order.

    Afterwards, `run` has what each operator waited for, but not always the times of messages.
    """
    is_exact = noise.operators.shape[0] == noise.streams.shape[0] == 0
    is_plain = not (tasks.barrier or tasks.has_jobs or tasks.network == NIC)
    makespan = GIVEN_UP
    if order.kind == RANKED and is_exact and is_plain:
        makespan = _ranked_makespan(tasks, order, devices, run, limit)
    if makespan != GIVEN_UP:
        return makespan
    return float(run_pass(tasks, order, noise, devices, run, limit))


@bare
def _ranked_makespan(tasks: Columns, order: Order, devices: Ints, run: Run, limit: float) -> float:
    """Return the makespan, infinity if it exceeds `limit`, or `GIVEN_UP`.

    It gives up if an operator takes no time, as it may then cause something at the same moment.
    """
    if not _begin(tasks, order, devices, run):
        return GIVEN_UP
    operators, events = devices.shape[0], run.events
    makespan, now, outcome, head = 0.0, 0.0, 0.0, 0
    while True:
        outcome = _start_operators(tasks, devices, run, head, now, limit)
        if outcome != 0.0 or events.size[0] == head:
            break
        now = events.when[head]
        while events.size[0] > head and events.when[head] == now:
            if run.wide:
                what = pop(events)
            else:
                what, head = events.what[head], head + 1
            if what < operators:
                makespan = now
                _end(tasks, devices, run, what, head, now)
            elif what < 2 * operators:
                _line_up(devices, run, what - operators)
            else:
                _release(tasks, devices, run, what - 2 * operators)
    free_channels(tasks, devices, run.channels)
    return makespan if outcome == 0.0 else outcome


@bare
def _begin(tasks: Columns, order: Order, devices: Ints, run: Run) -> bool:
    """Prepare a pass; return whether every operator takes some time."""
    for v in range(devices.shape[0]):
        run.duration[v] = seconds_on(tasks, v, devices[v])
        if run.duration[v] == 0.0:
            return False
    run.events.size[0] = run.counts[TOUCHED] = 0
    clear(run.queues, devices, order.sequence)
    for d in range(run.free.shape[0]):
        run.free[d] = tasks.device_cores[d]
        run.channels.lead_of[d] = NOTHING
        run.is_touched[d] = False
        run.released[d] = 0.0
    for v in range(devices.shape[0]):
        run.waiting[v], run.ready[v], run.last_input[v] = tasks.inputs[v], 0.0, NOTHING
        if tasks.inputs[v] == 0:
            _line_up(devices, run, v)
    return True


@bare
def _line_up(devices: Ints, run: Run, v: int) -> None:
    """Add an operator to the queue of its device, which may start it."""
    add(run.queues, devices[v], v)
    touch(run, devices[v])


@bare
def _start_operators(
    tasks: Columns, devices: Ints, run: Run, head: int, now: float, limit: float
) -> float:
    """Start what may start; return 0, or infinity if it ends too late, or `GIVEN_UP`."""
    queues = run.queues
    for i in range(run.counts[TOUCHED]):
        d = run.touched[i]
        run.is_touched[d] = False
        while queues.length[d] > 0 and run.free[d] > 0:
            v = first(queues, d)
            cores = min(tasks.cores[v], tasks.device_cores[d])
            if run.free[d] < cores:
                break
            remove_first(queues, d)
            run.free[d] -= cores
            run.cause[v] = run.releaser[d] if run.ready[v] < now else NOTHING
            end = now + run.duration[v]
            run.end[v] = end
            if tasks.device_cores[d] == 1:
                run.released[d] = end + tasks.startup_s[d]
            if end > limit:
                return np.inf
            if end == now:
                return GIVEN_UP
            _plan(run, head, end, v)
    run.counts[TOUCHED] = 0
    return 0.0


@bare
def _plan(run: Run, head: int, when: float, what: int) -> None:
    """Add an event to those from `head` on."""
    events = run.events
    if run.wide:
        push(events, when, what)
    else:
        insert(events.when, events.what, head, events.size[0], when, what)
        events.size[0] += 1


@bare
def _end(tasks: Columns, devices: Ints, run: Run, v: int, head: int, now: float) -> None:
    """Free the cores of an operator, and bring its outputs to their consumers."""
    a, operators = devices[v], devices.shape[0]
    run.last[0] = v
    if tasks.startup_s[a] > 0.0:
        _plan(run, head, now + tasks.startup_s[a], 2 * operators + v)
    else:
        _release(tasks, devices, run, v)
    if tasks.multicast != NONE:
        send(tasks, devices, run.channels, v, now)
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        w = tasks.target[k]
        b = devices[w]
        arrival = arrival_at(tasks, run.channels, k, a, b, now)
        if arrival > run.ready[w]:
            run.ready[w], run.last_input[w] = arrival, k
        elif arrival == run.ready[w] and _comes_last(tasks, devices, run, k, now):
            run.last_input[w] = k
        run.waiting[w] -= 1
        if run.waiting[w] == 0:
            ready = run.ready[w]
            if ready <= now:
                _line_up(devices, run, w)
            elif ready <= run.released[b]:  # the device starts nothing before
                add(run.queues, b, w)
            else:
                _plan(run, head, ready, operators + w)


@bare
def _release(tasks: Columns, devices: Ints, run: Run, v: int) -> None:
    """Free the cores of an operator."""
    d = devices[v]
    run.free[d] += min(tasks.cores[v], tasks.device_cores[d])
    run.releaser[d] = v
    touch(run, d)


@bare
def _comes_last(tasks: Columns, devices: Ints, run: Run, k: int, now: float) -> bool:
    """Return whether the input of stream k counts after the last one so far, of the same moment.

    At one moment, inputs on their own device come first, then those that were on their way before.
    """
    w = tasks.target[k]
    e, arrival = run.last_input[w], run.ready[w]
    phase = _phase(tasks, devices, k, now, arrival)
    other = _phase(tasks, devices, e, run.end[tasks.source[e]], arrival)
    return bool(phase > other or (phase == other and (phase == 0 or k > e)))


@bare
def _phase(tasks: Columns, devices: Ints, k: int, sent: float, arrival: float) -> int:
    """Return 0 for an input without a message, 2 for one that takes no time, and otherwise 1."""
    if tasks.silent[k] or devices[tasks.source[k]] == devices[tasks.target[k]]:
        return 0
    return 2 if arrival == sent else 1
