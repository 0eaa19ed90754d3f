"""Makespans under fixed priorities: events of operators and devices only, not of messages.

Without jobs, barriers and queues at receivers, the arrival of a message is known when its producer
ends. Operators wait in lists of their devices, which are woken up for them only while some of their
cores are free. `engine` serves all other cases, and agrees exactly.
"""

import numpy as np

from streamplace.sim.flow import Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.bit_queues import add, add_later, admit, clear, first, remove_first
from streamplace.sim.schedule.channels import arrival_at, free_channels, send
from streamplace.sim.schedule.engine import run_pass
from streamplace.sim.schedule.queues import NOTHING, insert
from streamplace.sim.schedule.state import RANKED, TOUCHED, Noise, Order, Run, touch
from streamplace.sim.schedule.task_graph import NIC, NONE, Columns, seconds_on

UNSERVED = -1.0  # no makespan: these are at least 0


@bare
def makespan_of(
    tasks: Columns, order: Order, noise: Noise, devices: Ints, run: Run, limit: float
) -> float:
    """Return the makespan of one placement, as `run_pass` does, by the fastest kernel of an order.

    Afterwards, `run` has what each operator waited for, but not always the times of messages.
    """
    is_exact = noise.operators.shape[0] == noise.streams.shape[0] == 0
    is_plain = not (tasks.barrier or tasks.has_jobs or tasks.network == NIC)
    makespan = UNSERVED
    if order.kind == RANKED and is_exact and is_plain:
        makespan = _ranked_makespan(tasks, order, devices, run, limit)
    if makespan != UNSERVED:
        return makespan
    return float(run_pass(tasks, order, noise, devices, run, limit))


@bare
def _ranked_makespan(tasks: Columns, order: Order, devices: Ints, run: Run, limit: float) -> float:
    """Return the makespan, infinity if it exceeds `limit`, or `UNSERVED`.

    It gives up if an operator takes no time, as it may then cause something at the same moment.
    Event v < V is the end of operator v, and V + v that of the rest after it. Event 2 V + d wakes
    up device d.
    """
    if not _begin(tasks, order, devices, run):
        return UNSERVED
    operators, events = devices.shape[0], run.events
    makespan, now, outcome, head = 0.0, 0.0, 0.0, 0
    while True:
        outcome = _start_operators(tasks, run, head, now, limit)
        if outcome != 0.0 or events.size[0] == head:
            break
        now = events.when[head]
        while events.size[0] > head and events.when[head] == now:
            what, head = events.what[head], head + 1
            if what < operators:
                makespan = now
                _end(tasks, devices, run, what, head, now)
            elif what < 2 * operators:
                _release(tasks, devices, run, what - operators, now)
            else:
                admit(run.queues, what - 2 * operators, now)
                touch(run, what - 2 * operators)
    free_channels(tasks, devices, run.channels)
    return makespan if outcome == 0.0 else outcome


@bare
def _begin(tasks: Columns, order: Order, devices: Ints, run: Run) -> bool:
    """Prepare a pass; return whether every operator takes some time."""
    run.events.size[0] = run.counts[TOUCHED] = 0
    clear(run.queues, devices, order.sequence)
    for d in range(run.free.shape[0]):
        run.free[d] = tasks.device_cores[d]
        run.channels.lead_of[d] = NOTHING
        run.is_touched[d] = False
        run.released[d] = run.woken[d] = 0.0
    for v in range(devices.shape[0]):
        d = devices[v]
        run.duration[v] = seconds_on(tasks, v, d)
        run.waiting[v], run.ready[v], run.last_input[v] = tasks.inputs[v], 0.0, NOTHING
        # What it causes happens at the same moment, whose order only the event engine keeps.
        if run.duration[v] == 0.0:
            return False
        if tasks.inputs[v] == 0:
            add(run.queues, d, v)
            touch(run, d)
    return True


@bare
def _start_operators(tasks: Columns, run: Run, head: int, now: float, limit: float) -> float:
    """Start what may start; return 0, or infinity if it ends too late, or `UNSERVED`."""
    queues = run.queues
    for i in range(run.counts[TOUCHED]):
        d = run.touched[i]
        run.is_touched[d] = False
        single = tasks.device_cores[d] == 1
        while queues.length[d] > 0 and run.free[d] > 0:
            v = first(queues, d)
            cores = 1 if single else min(tasks.cores[v], tasks.device_cores[d])
            if run.free[d] < cores:
                break
            remove_first(queues, d)
            run.free[d] -= cores
            run.cause[v] = run.releaser[d] if run.ready[v] < now else NOTHING
            end = now + run.duration[v]
            run.end[v] = end
            if single:
                run.released[d] = end + tasks.startup_s[d]
                admit(queues, d, run.released[d])  # nothing starts before
            if end > limit:
                return np.inf
            # So short that it is lost in rounding: the same as one that takes no time.
            if end == now:
                return UNSERVED
            _plan(run, head, end, v)
        _wake(run, head, d)
    run.counts[TOUCHED] = 0
    return 0.0


@bare
def _wake(run: Run, head: int, d: int) -> None:
    """Wake up a device with free cores when its next operator becomes runnable, if there is one."""
    i = run.queues.head[d]
    # One event for a moment is enough, and a busy device is woken up when it has a free core.
    if run.free[d] > 0 and i < run.queues.tail[d] and run.queues.when[i] != run.woken[d]:
        run.woken[d] = run.queues.when[i]
        _plan(run, head, run.woken[d], 2 * run.end.shape[0] + d)


@bare
def _plan(run: Run, head: int, when: float, what: int) -> None:
    """Add an event to those from `head` on; they are hardly more than the cores."""
    insert(run.events.when, run.events.what, head, run.events.size[0], when, what)
    run.events.size[0] += 1


@bare
def _end(tasks: Columns, devices: Ints, run: Run, v: int, head: int, now: float) -> None:
    """Free the cores of an operator, and bring its outputs to their consumers."""
    a = devices[v]
    run.last[0] = v
    if tasks.startup_s[a] > 0.0:
        _plan(run, head, now + tasks.startup_s[a], devices.shape[0] + v)
    else:
        _release(tasks, devices, run, v, now)
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
                add(run.queues, b, w)
                touch(run, b)
            elif ready <= run.released[b]:
                add(run.queues, b, w)
            else:
                add_later(run.queues, b, ready, w)
                _wake(run, head, b)


@bare
def _release(tasks: Columns, devices: Ints, run: Run, v: int, now: float) -> None:
    """Free the cores of an operator."""
    d = devices[v]
    run.free[d] += min(tasks.cores[v], tasks.device_cores[d])
    run.releaser[d] = v
    admit(run.queues, d, now)
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
