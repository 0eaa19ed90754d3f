"""A lower bound on makespans by operators that short passes must keep on one device.

Within a limit, the ends of a stream share a device if the time before the one, both operators, the
message and the time after the other are longer than the limit together. What shares a device runs
one after the other, which adds to the times before and after, so that further streams follow. A
limit is refuted if an operator, or a set of operators on one device, does not fit into it. Nothing
is assumed about devices but the shortest time of each operator and of each message.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.disjoint_sets import find, unite
from streamplace.sim.exact.bounds import Verdict, raised
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.schedule.bounds import Bools, times_on
from streamplace.sim.schedule.lists import inputs_of
from streamplace.sim.schedule.ranks import waits
from streamplace.sim.schedule.task_graph import NIC, Columns, TaskGraph

MOST = 20_000  # operators and streams; 9,000 take 40 ms, and a search has a second
# Times that heads and tails are computed per limit, at most; fewer joins only weaken the bound.
ROUNDS = 30
# Of an operator that are considered, those that would arrive last; a sort by insertion.
MOST_INPUTS = 64
BEYOND = 1.0 + 1e-9  # times a limit, which sums in another order do not reach by rounding


class Times(NamedTuple):
    """The least times of operators and messages, in seconds."""

    head: Floats  # (V,) before the start of each operator
    tail: Floats  # (V,) after its end
    seconds: Floats  # (V,) of the operator itself
    share: Floats  # (V,) of a whole device, with all cores
    message: Floats  # (E,) of the message on each stream, if its ends are apart


class Streams(NamedTuple):
    """The streams of a graph by target and by source, and the operators in topological order."""

    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams
    order: Ints  # (V,) operators


def least_messages(tasks: TaskGraph) -> Floats:
    """Return the least time of the message on each stream between any two devices, (E,)."""
    if tasks.devices == 1:
        return np.zeros(len(tasks.source))
    rate = tasks.rate.max()
    if tasks.network == NIC:
        rate = min(rate, tasks.rate_in.max())
    return np.where(tasks.silent, 0.0, tasks.bits / rate + tasks.latency_s.min())


def least_times(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> Times:
    """Return the least times of operators and messages.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    """
    allowed = np.ascontiguousarray(allowed)
    times = times_on(tasks.columns, allowed, row_of)
    runs = np.isfinite(times)
    head, tail = (
        np.where(runs, waits(tasks.columns, allowed, row_of, outward), np.inf).min(axis=1)
        for outward in (False, True)
    )
    used = np.minimum(tasks.cores[:, None], tasks.device_cores)
    share = (times * used / tasks.device_cores).min(axis=1)
    return Times(head, tail, times.min(axis=1), share, least_messages(tasks))


def together_bound(
    tasks: TaskGraph, allowed: Bools, row_of: Ints, unit_of: Ints, least: float
) -> float:
    """Return a lower bound on the makespan of any placement, at least a given one, in seconds.

    It is the given one for graphs of more than `MOST` operators and streams, or if that is 0.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    unit_of
        (V,) the unit of each operator; the operators of a unit share a device.
    """
    if least <= 0.0 or tasks.operators + len(tasks.source) > MOST:
        return least
    times = least_times(tasks, allowed, row_of)
    first_in, inputs = inputs_of(tasks.columns)
    order = np.argsort(tasks.level, kind="stable").astype(np.int32)
    streams_of = Streams(first_in, inputs, order)
    first = np.unique(unit_of, return_index=True)[1].astype(np.int32)

    def examined(limit: float) -> Verdict:
        root = first[unit_of]
        refuted = _is_refuted(tasks.columns, times, streams_of, limit, root)
        return Verdict(limit if refuted else 0.0, root, 0.0)

    return raised(least, examined)


@kernel
def _is_refuted(
    tasks: Columns, times: Times, streams_of: Streams, limit: float, root: Ints
) -> bool:
    """Return whether no pass is within a limit.

    `root`, (V,), has the operators that share a device as trees, which grow.
    """
    head, tail = times.head.copy(), times.tail.copy()
    before, late = np.empty(MOST_INPUTS, np.int32), np.empty(MOST_INPUTS)
    seconds, most = times.seconds, limit * BEYOND
    for turn in range(ROUNDS):
        joined = False
        for e in range(tasks.source.shape[0]):
            v, w = tasks.source[e], tasks.target[e]
            through = head[v] + seconds[v] + times.message[e] + seconds[w] + tail[w]
            if through > most and find(root, v) != find(root, w):
                unite(root, v, w)
                joined = True
        if (head + seconds + tail).max() > most:
            return True
        if _is_too_full(times.share, head, tail, root, most):
            return True
        if _is_too_full(times.share, tail, head, root, most):
            return True
        # Heads and tails have been raised with these trees before, and nothing further follows.
        if turn > 0 and not joined:
            return False
        for w in streams_of.order:
            first, end = streams_of.first_in[w], streams_of.first_in[w + 1]
            streams = streams_of.inputs[first:end]
            moment = _start(tasks.source, times, head, streams, root, w, before, late)
            head[w] = max(head[w], moment)
        for v in streams_of.order[::-1]:
            streams = np.arange(tasks.first_out[v], tasks.end_out[v]).astype(np.int32)
            moment = _start(tasks.target, times, tail, streams, root, v, before, late)
            tail[v] = max(tail[v], moment)
    return False


@inner
def _is_too_full(share: Floats, head: Floats, tail: Floats, root: Ints, most: float) -> bool:
    """Return whether some operators on one device need more time than there is.

    They are those with the largest heads, for each number of them (Jackson's bound).
    """
    load, least = np.zeros(share.shape[0]), np.full(share.shape[0], np.inf)
    for v in np.argsort(-head):
        u = find(root, v)
        load[u] += share[v]
        least[u] = min(least[u], tail[v])
        if head[v] + load[u] + least[u] > most:
            return True
    return False


@bare
def _start(
    other: Ints,
    times: Times,
    head: Floats,
    streams: Ints,
    root: Ints,
    w: int,
    before: Ints,
    late: Floats,
) -> float:
    """Return a moment before which an operator cannot start because of its inputs.

    If the input that would arrive last over the network is the j-th one, those that would arrive
    after it are on the same device, one after the other. The smallest moment for any j counts.

    Parameters
    ----------
    other
        (E,) the operator at the other end of each stream.
    before, late
        Working memory.
    """
    count, ended = 0, 0.0
    for e in streams:  # by arrival, the last one first
        v = other[e]
        known = False
        for i in range(count):
            known |= before[i] == v
        if known:
            continue
        ended = max(ended, head[v] + times.seconds[v])
        moment = head[v] + times.seconds[v] + times.message[e]
        # It never arrives over the network.
        if find(root, v) == find(root, w):
            moment = np.inf
        if count == MOST_INPUTS and moment <= late[count - 1]:
            continue
        i = min(count, MOST_INPUTS - 1)
        while i > 0 and late[i - 1] < moment:
            late[i], before[i] = late[i - 1], before[i - 1]
            i -= 1
        late[i], before[i] = moment, v
        count = min(count + 1, MOST_INPUTS)
    soonest = np.inf
    for j in range(count + 1):
        arrival = late[j] if j < count else 0.0
        if arrival == np.inf:
            continue
        soonest = min(soonest, max(arrival, _one_after_another(times.share, head, before, j)))
    return max(soonest, ended)


@bare
def _one_after_another(share: Floats, head: Floats, operators: Ints, count: int) -> float:
    """Return the soonest end of the first of some operators on one device (Jackson's bound)."""
    end = 0.0
    for i in range(count):
        load = 0.0
        for k in range(count):
            if head[operators[k]] >= head[operators[i]]:
                load += share[operators[k]]
        end = max(end, head[operators[i]] + load)
    return end
