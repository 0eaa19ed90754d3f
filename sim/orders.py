"""Orders in which operators are placed, upstream operators first."""

from typing import Protocol

import numpy as np

from sim.columns import by_operator
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
    return longest_paths(flow.target[::-1].copy(), flow.source[::-1].copy(), flow.operators)


def breadth_first(flow: Streams) -> Ints:
    """Return the operators level by level, (V,): by depth, then by number."""
    return np.argsort(depths(flow), kind="stable").astype(np.int32)


def depth_first(flow: Streams) -> Ints:
    """Return the operators path by path, (V,): each follows soon after the last of its inputs."""
    waiting = np.bincount(flow.target, minlength=flow.operators).astype(np.int32)
    first, by_source = by_operator(flow.source, flow.operators)
    return _depth_first(flow.target[by_source], first, waiting)


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
def _depth_first(target: Ints, first: Ints, waiting: Ints) -> Ints:
    operators = waiting.shape[0]
    order, stack = np.empty(operators, np.int32), np.empty(operators, np.int32)
    height, done = 0, 0
    for v in range(operators - 1, -1, -1):
        if waiting[v] == 0:
            stack[height] = v
            height += 1
    while height > 0:
        height -= 1
        v = stack[height]
        order[done] = v
        done += 1
        for e in range(first[v + 1] - 1, first[v] - 1, -1):
            waiting[target[e]] -= 1
            if waiting[target[e]] == 0:
                stack[height] = target[e]
                height += 1
    return order
