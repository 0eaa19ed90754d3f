"""Ranks of operators for list scheduling: mean costs, levels, and the optimistic cost table.

Also the paths with every operator on its fastest device, and the connected parts of a graph.

The upward rank and the downward rank are those of HEFT and CPOP (Topcuoglu et al. 2002), and the
optimistic cost table is that of PEFT (Arabnejad and Barbosa 2014). Means of an operator are over
the devices that may run it; means of a message are over all pairs of two different devices that may
run its ends. Both papers divide the bytes by the mean bandwidth, and add the mean latency. That is
the same where links are equal; elsewhere the mean of times, unlike that of bandwidths, is not ruled
by the fastest links, one of which may have no limit.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.orders import b_levels
from streamplace.sim.rules import Bools
from streamplace.sim.schedule.queues import Events, pop, push
from streamplace.sim.schedule.task_graph import NIC, Columns, TaskGraph, message_seconds, seconds_on

# Difference of ranks, relative to the highest, that counts as none: sums in other orders.
ROUNDING = 1e-12


def mean_seconds(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> Floats:
    """Return the mean execution time of each operator over the devices that may run it, (V,).

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    """
    return _mean_seconds(tasks.columns, np.ascontiguousarray(allowed), row_of)


def mean_messages(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> Floats:
    """Return the mean time of the message on each stream, (E,): transfer and latency, in seconds.

    The parameters are those of `mean_seconds`.
    """
    per_bit, latency = _mean_links(tasks, allowed)
    from_row, to_row = row_of[tasks.source], row_of[tasks.target]
    seconds = tasks.bits * per_bit[from_row, to_row] + latency[from_row, to_row]
    seconds[tasks.silent] = 0.0
    return seconds


def _mean_links(tasks: TaskGraph, allowed: Bools) -> tuple[Floats, Floats]:
    """Return the mean seconds per bit and latency between devices of any two masks, (M, M)."""
    masks = allowed.astype(float)
    counts = masks.sum(axis=1)
    pairs = np.outer(counts, counts) - masks @ masks.T
    per_bit = 1.0 / tasks.rate
    if tasks.network == NIC:
        per_bit = np.maximum(
            per_bit.reshape(-1, min(len(per_bit), tasks.devices)), 1.0 / tasks.rate_in
        )
    return (
        _mean_between(masks, per_bit, pairs),
        _mean_between(masks, tasks.latency_s, pairs),
    )


def _mean_between(masks: Floats, values: Floats, pairs: Floats) -> Floats:
    """Return the mean of a value of links over the pairs of devices of any two masks, (M, M).

    It is 0 where both masks have the same single device, so that no message is sent.
    """
    devices = masks.shape[1]
    if values.size == 1:
        return np.where(pairs > 0.0, values.reshape(-1)[0], 0.0)
    between = np.broadcast_to(values.reshape(-1, devices), (devices, devices)).copy()
    np.fill_diagonal(between, 0.0)
    means: Floats = masks @ between @ masks.T / np.maximum(pairs, 1.0)
    return means


def upward_rank(tasks: TaskGraph, seconds: Floats, messages: Floats) -> Floats:
    """Return the longest path from the start of each operator to the end of a sink, (V,) seconds.

    Parameters
    ----------
    seconds, messages
        (V,) and (E,) times of operators and of messages in seconds.
    """
    return with_ties(b_levels(tasks.source, tasks.target, seconds, messages))


def downward_rank(tasks: TaskGraph, seconds: Floats, messages: Floats) -> Floats:
    """Return the longest path from the start of a source to the start of each operator, (V,).

    The parameters are those of `upward_rank`; the result is in seconds.
    """
    return _downward_rank(tasks.source, tasks.target, seconds, messages)


def with_ties(rank: Floats) -> Floats:
    """Return ranks, (V,), of which those that differ only by rounding are equal.

    Ties then go by index, as in the schedules that publications print.
    """
    order = np.argsort(rank)
    rises = np.append(True, np.diff(rank[order]) > ROUNDING * rank.max())
    tied = np.empty_like(rank)
    tied[order] = rank[order[rises]][np.cumsum(rises) - 1]
    return tied


def by_rank(rank: Floats) -> Ints:
    """Return the operators, (V,) int32, by rank, the highest first, and then by index."""
    return np.argsort(-rank, kind="stable").astype(np.int32)


def optimistic_costs(
    tasks: TaskGraph, allowed: Bools, row_of: Ints, messages: Floats | None = None
) -> Floats:
    """Return PEFT's optimistic cost table, (V, D) seconds.

    An entry is the shortest time from the end of an operator on a device to the end of a sink if
    no operator ever waits for its device.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    messages
        (E,) the time of a message between any two different devices, as published: its mean. None:
        the time of their link, so that the table is a bound on what follows.
    """
    allowed = np.ascontiguousarray(allowed)
    if messages is None:
        return waits(tasks.columns, allowed, row_of, True)
    return _mean_costs(tasks.columns, allowed, row_of, messages)


@kernel
def _mean_costs(tasks: Columns, allowed: Bools, row_of: Ints, messages: Floats) -> Floats:
    streams, devices = tasks.source.shape[0], allowed.shape[1]
    table = np.zeros((tasks.work.shape[0], devices))
    value = np.empty(devices)
    for i in range(streams):
        e = streams - 1 - i
        v, w = tasks.source[e], tasks.target[e]
        least = np.inf
        for d in range(devices):
            value[d] = np.inf
            if allowed[row_of[w], d]:
                value[d] = table[w, d] + seconds_on(tasks, w, d)
            least = min(least, value[d])
        for d in range(devices):
            table[v, d] = max(table[v, d], min(value[d], least + messages[e]))
    return table


@kernel
def _mean_seconds(tasks: Columns, allowed: Bools, row_of: Ints) -> Floats:
    means = np.zeros(tasks.work.shape[0])
    for v in range(means.shape[0]):
        total, count = 0.0, 0
        for d in range(allowed.shape[1]):
            if allowed[row_of[v], d]:
                total += seconds_on(tasks, v, d)
                count += 1
        means[v] = total / count
    return means


@kernel
def _downward_rank(source: Ints, target: Ints, seconds: Floats, messages: Floats) -> Floats:
    head = np.zeros(seconds.shape[0])
    for e in range(source.shape[0]):
        v = source[e]
        head[target[e]] = max(head[target[e]], head[v] + seconds[v] + messages[e])
    return head


@kernel
def waits(tasks: Columns, allowed: Bools, row_of: Ints, outward: bool) -> Floats:
    """Return the shortest time before or after each operator on each device, (V, D) seconds.

    It is the longest path over the streams, on each of which the device of the other end is the
    best one. No operator waits for its device.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    outward
        Whether the time is that after the end of an operator, and not that before its start.
    """
    streams, devices = tasks.source.shape[0], allowed.shape[1]
    table = np.zeros((tasks.work.shape[0], devices))
    value, best_first = np.empty(devices), np.empty(devices, np.int32)
    current = -1  # the operator that `value` belongs to
    for i in range(streams):
        e = streams - 1 - i if outward else i
        near, far = tasks.target[e], tasks.source[e]
        if not outward:
            near, far = far, near
        if near != current:
            current = near
            for d in range(devices):
                value[d] = np.inf
                if allowed[row_of[near], d]:
                    value[d] = table[near, d] + seconds_on(tasks, near, d)
            _sort(value, best_first)
        for other in range(devices):
            best = value[other]
            for this in best_first:
                if value[this] >= best:
                    break
                seconds = 0.0
                if not tasks.silent[e] and outward:
                    seconds = message_seconds(tasks, tasks.bits[e], other, int(this))
                elif not tasks.silent[e]:
                    seconds = message_seconds(tasks, tasks.bits[e], int(this), other)
                best = min(best, value[this] + seconds)
            table[far, other] = max(table[far, other], best)
    return table


@bare
def _sort(value: Floats, best_first: Ints) -> None:
    """List devices by value, the smallest first."""
    for d in range(value.shape[0]):
        i = d
        while i > 0 and value[best_first[i - 1]] > value[d]:
            best_first[i] = best_first[i - 1]
            i -= 1
        best_first[i] = d


class FastestPaths(NamedTuple):
    """Lengths of paths from a source to a sink, in seconds."""

    longest: float
    shortest: float


def fastest_paths(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> FastestPaths:
    """Return the longest and the shortest path with every operator on its fastest device.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    """
    longest, shortest = _paths(tasks.columns, np.ascontiguousarray(allowed), row_of)
    has_input = np.zeros(tasks.operators, np.bool_)
    has_input[tasks.target] = True
    sources = ~has_input
    return FastestPaths(float(longest[sources].max()), float(shortest[sources].min()))


@kernel
def _paths(tasks: Columns, allowed: Bools, row_of: Ints) -> tuple[Floats, Floats]:
    """Return the longest and the shortest path from each operator's start to a sink, (V,)."""
    operators = tasks.work.shape[0]
    fastest = np.full(operators, np.inf)
    for v in range(operators):
        for d in range(allowed.shape[1]):
            if allowed[row_of[v], d]:
                fastest[v] = min(fastest[v], seconds_on(tasks, v, d))
    longest, shortest = np.zeros(operators), np.zeros(operators)
    has_output = np.zeros(operators, np.bool_)
    for e in range(tasks.source.shape[0] - 1, -1, -1):
        v, w = tasks.source[e], tasks.target[e]
        after_longest, after_shortest = fastest[w] + longest[w], fastest[w] + shortest[w]
        if not has_output[v] or after_shortest < shortest[v]:
            shortest[v] = after_shortest
        longest[v] = max(longest[v], after_longest)
        has_output[v] = True
    return fastest + longest, fastest + shortest


class Neighbours(NamedTuple):
    """The operators at the other ends of each operator's streams."""

    first: Ints  # (V + 1,) index of each operator's first entry
    operator: Ints  # (2 E,) the other operator
    seconds: Floats  # (2 E,) mean time of the message on the stream between them


def neighbours_of(operators: int, source: Ints, target: Ints, seconds: Floats) -> Neighbours:
    """Return the neighbours of V operators.

    Parameters
    ----------
    source, target, seconds
        (E,) ends of streams, and the time of the message on each.
    """
    one = np.concatenate([source, target])
    order = np.argsort(one, kind="stable")
    return Neighbours(
        np.searchsorted(one[order], np.arange(operators + 1)).astype(np.int32),
        np.concatenate([target, source])[order].astype(np.int32),
        np.concatenate([seconds, seconds])[order],
    )


@kernel
def grow(
    neighbours: Neighbours,
    start: int,
    size: int,
    keys: Floats,
    devices: Ints,
    queue: Events,
    taken: Bools,
) -> None:
    """Take operators until there are `size` of them, the one with the lowest key first.

    Parameters
    ----------
    keys
        (2 E,) key of each neighbour, when it is reached over this stream.
    devices
        (V,) devices; operators on another device than the first are left out. Empty: none are.
    queue
        A heap for at least 2 E + 1 events.
    taken
        (V,) receives the operators.
    """
    _clear(queue, taken)
    push(queue, -np.inf, start)
    count = 0
    while queue.size[0] > 0 and count < size:
        v = pop(queue)
        if taken[v]:
            continue
        taken[v] = True
        count += 1
        for i in range(neighbours.first[v], neighbours.first[v + 1]):
            other = neighbours.operator[i]
            elsewhere = devices.shape[0] > 0 and devices[other] != devices[start]
            if not taken[other] and not elsewhere:
                push(queue, keys[i], other)


@bare
def _clear(queue: Events, taken: Bools) -> None:
    queue.size[0] = 0
    for v in range(taken.shape[0]):
        taken[v] = False
