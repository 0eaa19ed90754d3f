"""Paths of a graph with every operator on its fastest device and no messages."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.schedule.task_graph import Columns, TaskGraph, seconds_on

Bools = NDArray[np.bool_]


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
