"""Orders of operators: upstream operators first, and those in which an algorithm visits a graph.

The streams of an operator are followed in the order in which they are listed, as networkx follows
the edges of a node in the order in which they were added.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import by_operator, read_only
from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.jit import kernel


class Streams(Protocol):
    """The streams of an acyclic graph, such as a `streamplace.sim.flow.Flow`.

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


def forward_part(flow: Flow, unit_of: Ints) -> NDArray[np.bool_]:
    """Return whether each operator is in the forward part, (V,) bool.

    Operators join that part in topological order. One joins if all its producers have, and if the
    units of those that have joined still form no cycle.

    Parameters
    ----------
    unit_of
        (V,) unit of each operator.
    """
    last = np.full(flow.operators, -1)
    last[flow.target] = np.arange(len(flow.target))
    order = np.argsort(last, kind="stable").astype(
        np.int32
    )  # topological, as in `streamplace.sim.greedy`
    first_in, inward = by_operator(flow.target, flow.operators)
    units = int(unit_of.max()) + 1
    return _forward(unit_of, units, order, flow.source, flow.target, first_in, inward)


@kernel
def _forward(
    unit_of: Ints,
    units: int,
    order: Ints,
    source: Ints,
    target: Ints,
    first_in: Ints,
    inward: Ints,
) -> NDArray[np.bool_]:
    joined = np.ones(order.shape[0], np.bool_)
    head = np.full(units, -1, np.int32)  # lists of the streams between units that have joined
    following = np.full(source.shape[0], -1, np.int32)
    stack, reached = np.zeros(units, np.int32), np.full(units, -1, np.int32)
    for v in order:
        unit, size = unit_of[v], 1
        stack[0], reached[unit] = unit, v
        while size > 0:  # mark all units downstream of that of v
            size -= 1
            e = head[stack[size]]
            while e >= 0:
                other = unit_of[target[e]]
                if reached[other] != v:
                    stack[size], reached[other] = other, v
                    size += 1
                e = following[e]
        for i in range(first_in[v], first_in[v + 1]):
            producer = source[inward[i]]
            upstream = unit_of[producer]
            closes = upstream != unit and reached[upstream] == v
            joined[v] = joined[v] and joined[producer] and not closes
        if joined[v]:
            for i in range(first_in[v], first_in[v + 1]):
                upstream = unit_of[source[inward[i]]]
                if upstream != unit:
                    following[inward[i]], head[upstream] = head[upstream], inward[i]
    return joined


def depth_first(streams: Streams) -> tuple[Ints, Ints]:
    """Return the operators as a depth-first search enters them, and as it leaves them, (V,) each.

    The search starts at operator 0 and, when it ends, starts again at the first operator that it
    has not entered. On an acyclic graph the second order is a reverse topological one.
    """
    return _depth_first(*outputs(streams))


def breadth_first(streams: Streams, starts: Ints) -> Ints:
    """Return the operators, (V,), in the order of breadth-first searches from each start in turn.

    A search does not enter operators that an earlier one has entered.

    Parameters
    ----------
    starts
        (S,) int32 operators from which all others can be reached.
    """
    return _breadth_first(*outputs(streams), starts)


def by_stream(streams: Streams, weight: Floats) -> Ints:
    """Return the ends of the heaviest stream, then those of the next one, and so on, (V,).

    The producer of a stream comes before its consumer. Streams of equal weight follow in the order
    in which they are listed; operators without streams are last.

    Parameters
    ----------
    weight
        (E,) weights of the streams.
    """
    heaviest = np.argsort(-weight, kind="stable")
    ends = np.stack([streams.source[heaviest], streams.target[heaviest]], axis=1).ravel()
    every = np.concatenate([ends, np.arange(streams.operators, dtype=ends.dtype)])
    _, first = np.unique(every, return_index=True)
    return every[np.sort(first)].astype(np.int32)


@kernel
def _depth_first(first: Ints, consumer: Ints) -> tuple[Ints, Ints]:
    operators = first.shape[0] - 1
    entered, left = np.empty(operators, np.int32), np.empty(operators, np.int32)
    stack, following = np.empty(operators, np.int32), first[:-1].copy()
    visited = np.zeros(operators, np.bool_)
    before, after = 0, 0
    for start in range(operators):
        if visited[start]:
            continue
        visited[start] = True
        entered[before] = stack[0] = start
        before, height = before + 1, 1
        while height > 0:
            v = stack[height - 1]
            if following[v] == first[v + 1]:
                left[after] = v
                after, height = after + 1, height - 1
                continue
            w = consumer[following[v]]
            following[v] += 1
            if not visited[w]:
                visited[w] = True
                entered[before] = stack[height] = w
                before, height = before + 1, height + 1
    return entered, left


@kernel
def _breadth_first(first: Ints, consumer: Ints, starts: Ints) -> Ints:
    operators = first.shape[0] - 1
    order, visited = np.empty(operators, np.int32), np.zeros(operators, np.bool_)
    head, tail = 0, 0
    for start in starts:
        if visited[start]:
            continue
        visited[start] = True
        order[tail] = start
        tail += 1
        while head < tail:
            v = order[head]
            head += 1
            for i in range(first[v], first[v + 1]):
                w = consumer[i]
                if not visited[w]:
                    visited[w] = True
                    order[tail] = w
                    tail += 1
    return order
