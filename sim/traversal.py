"""Orders in which an algorithm visits the operators of a graph, from its streams alone.

The streams of an operator are followed in the order in which they are listed, as networkx follows
the edges of a node in the order in which they were added.
"""

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.orders import Streams, outputs


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
