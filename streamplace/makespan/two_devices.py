"""The least total cost on two devices, by a minimum cut (Stone 1977).

Operators on the first device are on one side of the cut, and the others on the other side. An
operator is joined to each side by an arc of its execution time on the other device, and the
producer of a message to its consumers by arcs of its transfer time. Streams that share a message
cost as much as the largest that crosses: the first of them, by size, costs what exceeds the second,
and so on, if it or a larger one crosses.
"""

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.task_graph import NONE, TaskGraph
from streamplace.util.arrays import Floats, Ints

MOST = 5_000  # units and streams; larger cuts take seconds
SCALE = 2.0**80  # of capacities as integers, relative to the largest, so that sums are exact
FIRST, SECOND = SIDES = "first device", "second device"


Arc = tuple[Any, Any, float]
"""Two nodes, and what it costs to have the former on the first device and the latter not."""


class Cut(NamedTuple):
    """The least total cost without limits of devices and without operators that must be apart."""

    cost_s: float
    devices: Ints  # (V,)


def cheapest_of_two(problem: Problem) -> Cut | None:
    """Return the least total cost of a problem without noise; None unless it has two devices.

    It is a lower bound on the cost of every placement, and the least cost if its placement is
    feasible. There is none for large problems, or if every placement has an infinite cost.
    """
    tasks, rules = compiled_pass(problem).tasks, compiled_pass(problem).rules
    if tasks.devices != len(SIDES) or len(rules.row_of) + len(tasks.source) > MOST:
        return None
    allowed = np.ascontiguousarray(rules.allowed)
    times = np.zeros((len(rules.row_of), 2))
    np.add.at(times, rules.unit_of, times_on(tasks.columns, allowed, rules.row_of[rules.unit_of]))
    arcs: list[Arc] = [(FIRST, u, times[u, 1]) for u in range(len(times))]
    arcs += [(u, SECOND, times[u, 0]) for u in range(len(times))]
    arcs += _messages(tasks, rules.unit_of)
    largest = max((cost for _, _, cost in arcs if isfinite(cost)), default=0.0) or 1.0
    cut = _minimum_cut(arcs, SCALE / largest)
    if cut is None:
        return None
    value, first = cut
    on = np.array([u not in first for u in range(len(times))], np.int32)
    return Cut(value / SCALE * largest, on[rules.unit_of])


def _messages(tasks: TaskGraph, unit_of: Ints) -> list[Arc]:
    """Return the arcs of all messages."""
    arcs: list[Arc] = []
    for v in range(tasks.operators):
        streams = [e for e in range(tasks.first_out[v], tasks.end_out[v]) if not tasks.silent[e]]
        streams = [e for e in streams if unit_of[tasks.target[e]] != unit_of[v]]
        streams.sort(key=lambda e: -tasks.bits[e])
        between = [tasks.seconds_between(e) for e in streams]
        seconds = np.array([(one[0, 1], one[1, 0]) for one in between]).reshape(-1, 2)
        consumers = [int(unit_of[tasks.target[e]]) for e in streams]
        if tasks.multicast == NONE:
            for w, (forth, back) in zip(consumers, seconds.tolist(), strict=True):
                arcs += [(int(unit_of[v]), w, forth), (w, int(unit_of[v]), back)]
        else:
            arcs += _arcs_of_message(v, int(unit_of[v]), consumers, seconds)
    return arcs


def _arcs_of_message(v: int, producer: int, consumers: list[int], seconds: Floats) -> list[Arc]:
    """Return the arcs of the message of operator v to several consumers, largest first."""
    arcs: list[Arc] = []
    steps = seconds - np.vstack([seconds[1:], np.zeros(2)]) if len(seconds) else seconds
    for k, (w, (forth, back)) in enumerate(zip(consumers, steps.tolist(), strict=True)):
        leaves, returns = ("there", v, k), ("back", v, k)
        arcs += [(producer, leaves, forth), (leaves, w, np.inf)]
        arcs += [(returns, producer, back), (w, returns, np.inf)]
        if k:
            arcs += [(leaves, ("there", v, k - 1), np.inf), (("back", v, k - 1), returns, np.inf)]
    return arcs


def _minimum_cut(arcs: list[Arc], scale: float) -> tuple[int, set[Any]] | None:
    """Return the least cost of a cut as an integer, and the nodes on the first device."""
    with work_clock.loading():
        import networkx  # noqa: PLC0415 - heavy

    graph: Any = networkx.DiGraph()
    for a, b, cost in arcs:
        if not isfinite(cost):
            graph.add_edge(a, b)  # an arc without a capacity cannot be cut
        elif graph.has_edge(a, b):
            if "capacity" in graph[a][b]:
                graph[a][b]["capacity"] += int(cost * scale)
        else:
            graph.add_edge(a, b, capacity=int(cost * scale))
    try:
        value, (first, _) = networkx.minimum_cut(graph, FIRST, SECOND)
    except networkx.NetworkXUnbounded:
        return None
    return int(value), first
