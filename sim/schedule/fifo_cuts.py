"""Lower bounds on the makespan of a pass under FIFO of which some operators are placed.

Three bounds cut off a partial placement: the ends of the queued operators, whose order is known;
the longest path through the open operators, each on its best device; and the work of the operators
that are not done, at prices of devices (see `work_bound`), between the earliest start and the
shortest time after the end on each device.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.rules import NOWHERE, Placed, Rules
from streamplace.sim.schedule.bounds import prices_of
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, message_seconds

OPEN, QUEUED, DONE = range(3)  # status of an operator; a queued one has a device
CLOSE = 1e-12  # relative difference from the limit that counts as reaching it: rounding of sums
# Sets of operators whose work is compared with the time, at each node; a guess, not tuned.
TAILS = 8


class PartialPass(NamedTuple):
    """The operators that have left the queue of `fifo` or are in it, and when."""

    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams by target
    upstream_first: Ints  # (V,) operators
    status: Ints  # (V,)
    device: Ints  # (V,) where queued and done operators run
    ready: Floats  # (V,) moment at which they became runnable, in seconds
    end: Floats  # (V,) end of each operator that is done; a lower bound for queued ones
    waiting: Ints  # (V,) inputs that are not done
    free: Floats  # (D,) moment from which each device is free of operators that are done
    queued: Ints  # (V,) operators in the order in which they were queued, also those done since
    done: Ints  # (V,) operators in the order in which they left the queue
    free_before: Floats  # (V,) moment from which the device of each of them was free before it
    counts: Ints  # (3,) numbers of operators in `queued` and `done`, at these indices
    line: Ints  # (V,) working memory: the queue
    head: Floats  # (V, D) working memory: earliest start of each open operator; infinity: too late
    busy: Floats  # (D,) working memory: end of the queue of each device


def partial_pass(tasks: TaskGraph) -> PartialPass:
    """Return the pass before its first operator is placed."""
    operators, devices, ints = tasks.operators, tasks.devices, np.int32
    return PartialPass(
        first_in=np.append(0, np.cumsum(tasks.inputs)).astype(ints),
        inputs=np.argsort(tasks.target, kind="stable").astype(ints),
        upstream_first=np.argsort(tasks.level, kind="stable").astype(ints),
        status=np.full(operators, OPEN, ints),
        device=np.zeros(operators, ints),
        ready=np.zeros(operators),
        end=np.zeros(operators),
        waiting=tasks.inputs.copy(),
        free=np.zeros(devices),
        queued=np.zeros(operators, ints),
        done=np.zeros(operators, ints),
        free_before=np.zeros(operators),
        counts=np.zeros(3, ints),
        line=np.zeros(operators, ints),
        head=np.zeros((operators, devices)),
        busy=np.zeros(devices),
    )


class Cuts(NamedTuple):
    """Fixed data of the bounds."""

    times: Floats  # (V, D) execution times in seconds; infinity if forbidden
    after: Floats  # (V, D) shortest time after the end of each operator, in seconds
    sets: Ints  # (V,) number of sets that each operator is in, of the first ones
    prices: Floats  # (S, D) prices of devices for the work of each set
    work: Floats  # (S,) working memory: work of each set at its prices
    first: Floats  # (S, D) working memory: earliest start on each device
    last: Floats  # (S, D) working memory: shortest time after an end on each device


def cuts_of(tasks: TaskGraph, times: Floats, after: Floats) -> Cuts:
    """Return the data of a task graph, all devices of which have one core.

    Parameters
    ----------
    times, after
        (V, D) execution times and shortest times after the end, in seconds.
    """
    tail = np.where(np.isfinite(times), after, np.inf).min(axis=1)
    cuts = np.unique(np.quantile(tail, np.linspace(0.0, 1.0, TAILS + 1)[:-1], method="lower"))
    shape = len(cuts), tasks.devices
    return Cuts(
        times=times,
        after=after,
        sets=(tail[:, None] >= cuts).sum(axis=1).astype(np.int32),
        prices=np.stack([prices_of(times, tail >= cut) for cut in cuts]),
        work=np.empty(len(cuts)),
        first=np.empty(shape),
        last=np.empty(shape),
    )


@bare
def may_be_shorter(
    tasks: Columns, rules: Rules, placed: Placed, cuts: Cuts, now: PartialPass, limit: float
) -> bool:
    """Return whether a completion of a partial pass may be shorter than a limit, in seconds."""
    beyond = limit * (1.0 - CLOSE)
    # The quickest bound comes first, since one that fails is enough.
    queue = _list_queue(now)
    if not _run_queue(tasks, cuts, now, queue, beyond):
        return False
    if not _run_open(tasks, rules, placed, cuts, now, queue, beyond):
        return False
    return _has_time(cuts, now, limit, True) and _has_time(cuts, now, limit, False)


@bare
def _list_queue(now: PartialPass) -> int:
    """List the queued operators in the order in which they start; return their number."""
    size = 0
    for i in range(now.counts[QUEUED]):
        v = now.queued[i]
        if now.status[v] == QUEUED:
            k = size
            while k > 0 and _is_before(now, v, now.line[k - 1]):
                now.line[k] = now.line[k - 1]
                k -= 1
            now.line[k] = v
            size += 1
    return size


@bare
def _is_before(now: PartialPass, v: int, other: int) -> bool:
    """Return whether an operator leaves the queue before another one."""
    if now.ready[v] == now.ready[other]:
        return v < other
    return bool(now.ready[v] < now.ready[other])


@bare
def _run_queue(tasks: Columns, cuts: Cuts, now: PartialPass, queue: int, beyond: float) -> bool:
    """Set the earliest ends of queued operators; return whether they leave enough time."""
    for d in range(now.free.shape[0]):
        now.busy[d] = now.free[d]
    for i in range(queue):
        v = now.line[i]
        d = now.device[v]
        now.end[v] = max(now.busy[d], now.ready[v]) + cuts.times[v, d]
        now.busy[d] = now.end[v]
        if cuts.times[v, d] > 0.0:
            now.busy[d] += tasks.startup_s[d]
        if now.end[v] + cuts.after[v, d] >= beyond:
            return False
    return True


@bare
def _run_open(
    tasks: Columns,
    rules: Rules,
    placed: Placed,
    cuts: Cuts,
    now: PartialPass,
    queue: int,
    beyond: float,
) -> bool:
    """Set the earliest starts of open operators; return whether each has a device in time."""
    devices = now.free.shape[0]
    for w in now.upstream_first:
        if now.status[w] != OPEN:
            continue
        only, fits = placed.device[rules.unit_of[w]], False
        for b in range(devices):
            start = np.inf
            if cuts.times[w, b] < np.inf and only in (NOWHERE, b):
                start = _earliest_start(tasks, cuts, now, w, b)
                start = max(start, _free_from(tasks, now, queue, b, start))
                if start + cuts.times[w, b] + cuts.after[w, b] >= beyond:
                    start = np.inf
            now.head[w, b] = start
            fits |= start < np.inf
        if not fits:
            return False
    return True


@bare
def _earliest_start(tasks: Columns, cuts: Cuts, now: PartialPass, w: int, b: int) -> float:
    """Return the earliest moment at which an open operator can be runnable on a device."""
    ready = 0.0
    for j in range(now.first_in[w], now.first_in[w + 1]):
        e = now.inputs[j]
        u = tasks.source[e]
        arrival = np.inf
        if now.status[u] != OPEN:
            arrival = now.end[u]
            if now.device[u] != b and not tasks.silent[e]:
                arrival += message_seconds(tasks, tasks.bits[e], now.device[u], b)
        else:
            for a in range(now.free.shape[0]):
                moment = now.head[u, a] + cuts.times[u, a]
                if moment < arrival:
                    if a != b and not tasks.silent[e]:
                        moment += message_seconds(tasks, tasks.bits[e], a, b)
                    arrival = min(arrival, moment)
        ready = max(ready, arrival)
    return ready


@bare
def _free_from(tasks: Columns, now: PartialPass, queue: int, d: int, ready: float) -> float:
    """Return the moment from which a device is free of what becomes runnable before `ready`."""
    moment = now.free[d]
    for i in range(queue):
        v = now.line[i]
        if now.ready[v] >= ready:
            break
        if now.device[v] == d:
            moment = now.end[v]
    return float(moment)


@bare
def _has_time(cuts: Cuts, now: PartialPass, limit: float, with_queue: bool) -> bool:
    """Return whether the devices have time for the work of open, or of all remaining operators."""
    sets, devices = cuts.prices.shape
    for s in range(sets):
        cuts.work[s] = 0.0
        for d in range(devices):
            cuts.first[s, d] = cuts.last[s, d] = np.inf
    for v in range(now.status.shape[0]):
        if now.status[v] == DONE or (now.status[v] == QUEUED and not with_queue):
            continue
        for s in range(cuts.sets[v]):
            least = np.inf
            for d in range(devices):
                start = now.head[v, d]
                if now.status[v] == QUEUED:
                    if d != now.device[v]:
                        continue
                    start = now.end[v] - cuts.times[v, d]
                if start < np.inf:
                    least = min(least, cuts.times[v, d] * cuts.prices[s, d])
                    cuts.first[s, d] = min(cuts.first[s, d], start)
                    cuts.last[s, d] = min(cuts.last[s, d], cuts.after[v, d])
            cuts.work[s] += least
    for s in range(sets):
        total = cuts.work[s]
        for d in range(devices):
            total += cuts.prices[s, d] * min(cuts.first[s, d] + cuts.last[s, d], limit)
        if total > limit * (1.0 + CLOSE):
            return False
    return True
