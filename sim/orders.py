"""Orders in which operators are placed, upstream operators first."""

from typing import Protocol

import numpy as np

from sim.columns import by_operator, read_only
from sim.flow import Floats, Ints
from sim.jit import kernel


class Streams(Protocol):
    """The streams of an acyclic graph, such as a `sim.flow.Flow`.

    Streams into an operator precede the streams out of it.
    """

    @property
    def source(self) -> Ints:
        """(E,) int32 operator indices."""
        ...

    @property
    def target(self) -> Ints:
        """(E,) int32 operator indices."""
        ...

    @property
    def operators(self) -> int:
        """The number of operators, V."""
        ...


def depths(flow: Streams) -> Ints:
    """Return the number of streams on the longest path to each operator, (V,)."""
    return longest_paths(flow.source, flow.target, flow.operators)


def heights(flow: Streams) -> Ints:
    """Return the number of streams on the longest path from each operator, (V,)."""
    back = read_only(flow.target[::-1]), read_only(flow.source[::-1])
    return longest_paths(*back, flow.operators)


def by_depth(flow: Streams) -> Ints:
    """Return the operators level by level, (V,): by depth, then by number."""
    return np.argsort(depths(flow), kind="stable").astype(np.int32)


def by_path(flow: Streams) -> Ints:
    """Return the operators path by path, (V,): each follows soon after the last of its inputs.

    This is `newest_first`, except that operators which become ready together keep their order.
    """
    return _ready(*outputs(flow), _inputs(flow), True, True)


def newest_first(streams: Streams) -> Ints:
    """Return the topological order, (V,), that takes the operator that became ready last.

    An operator is ready as soon as all its inputs are visited. This is Kahn's algorithm with a
    stack: `networkx.topological_sort` up to version 2.5.
    """
    return _ready(*outputs(streams), _inputs(streams), True, False)


def oldest_first(streams: Streams) -> Ints:
    """Return the topological order, (V,), that takes the operator that became ready first.

    This is Kahn's algorithm with a queue, which visits level by level:
    `networkx.topological_sort` since version 2.6.
    """
    return _ready(*outputs(streams), _inputs(streams), False, False)


def outputs(streams: Streams) -> tuple[Ints, Ints]:
    """Return the consumers of each operator: index of its first one, (V + 1,), and all, (E,)."""
    first, order = by_operator(streams.source, streams.operators)
    return first, streams.target[order]


def _inputs(streams: Streams) -> Ints:
    """Return the number of streams into each operator, (V,)."""
    return np.bincount(streams.target, minlength=streams.operators).astype(np.int32)


@kernel
def longest_paths(source: Ints, target: Ints, operators: int) -> Ints:
    """Return the number of streams on the longest path to each operator, (V,).

    `source` and `target`, (E,), are sorted so that streams into an operator precede those out.
    """
    depth = np.zeros(operators, np.int32)
    for e in range(source.shape[0]):
        depth[target[e]] = max(depth[target[e]], depth[source[e]] + 1)
    return depth


@kernel
def b_levels(source: Ints, target: Ints, seconds: Floats, messages: Floats) -> Floats:
    """Return the longest path from the start of each operator to the end of a sink, (V,).

    Parameters
    ----------
    source, target
        (E,), sorted as for `longest_paths`.
    seconds, messages
        (V,) and (E,) times of operators and of messages.
    """
    tail = np.zeros(seconds.shape[0])
    for e in range(source.shape[0] - 1, -1, -1):
        w = target[e]
        tail[source[e]] = max(tail[source[e]], messages[e] + (seconds[w] + tail[w]))
    return seconds + tail


@kernel
def _ready(first: Ints, consumer: Ints, waiting: Ints, newest: bool, backwards: bool) -> Ints:
    """Return a topological order by Kahn's algorithm, (V,).

    Parameters
    ----------
    first, consumer
        See `outputs`.
    waiting
        (V,) the number of streams into each operator; changed.
    newest
        Whether the operator that became ready last is next, instead of the first one.
    backwards
        Whether operators and consumers are gone through from the last to the first.
    """
    operators = waiting.shape[0]
    order, ready = np.empty(operators, np.int32), np.empty(operators, np.int32)
    head, tail = 0, 0
    for k in range(operators):
        v = operators - 1 - k if backwards else k
        if waiting[v] == 0:
            ready[tail] = v
            tail += 1
    for done in range(operators):
        if newest:
            tail -= 1
            v = ready[tail]
        else:
            v = ready[head]
            head += 1
        order[done] = v
        for k in range(first[v + 1] - first[v]):
            w = consumer[first[v + 1] - 1 - k if backwards else first[v] + k]
            waiting[w] -= 1
            if waiting[w] == 0:
                ready[tail] = w
                tail += 1
    return order
