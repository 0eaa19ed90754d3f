"""Traversal orders by name: the order in which an algorithm visits the operators of a graph."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objectives import check_order
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled_parts
from streamplace.sim import orders
from streamplace.sim.orders import b_levels
from streamplace.util.arrays import Floats, Ints


def traversal_order(
    problem: Problem | StreamGraph, kind: str, seed: int | np.random.Generator = 0
) -> Ints:
    """Return the operators in a traversal order, (V,) int32 indices; each occurs once.

    Insertion order is the order of operators in the graph (`StreamGraph.names`). The streams of an
    operator are followed in the insertion order of their targets.

    Parameters
    ----------
    problem
        The problem, or its graph. The orders by weight (`WEIGHTED`) need the problem.
    kind
        A name of `problem.objectives.ORDERS`; docs/orders.md describes each.
    seed
        A seed, or a generator to draw from, for `random`; the others ignore it.

    Raises
    ------
    UsageError
        If there is no order of this name, or it needs a problem and got a graph.
    GraphError
        If loads overflow, for an order by weight.

    Examples
    --------
    >>> import streamplace as sp
    >>> graph = sp.StreamGraph([("a", 1, 1), ("b", 1, 1), ("c", 1, 0)], [("a", "b"), ("b", "c")])
    >>> [graph.names[v] for v in traversal_order(graph, "dfs-postorder")]
    ['c', 'b', 'a']
    """
    check_order(kind)
    graph = problem if isinstance(problem, StreamGraph) else problem.graph
    if kind == "random":
        rng = np.random.default_rng(seed)
        return rng.permutation(len(graph.names)).astype(np.int32)
    if kind not in WEIGHTED:
        return STRUCTURAL[kind](graph)
    if isinstance(problem, StreamGraph):
        raise UsageError(f"order {kind!r}: needs a problem, because times depend on the cluster")
    return WEIGHTED[kind](graph, *mean_times(problem))


def mean_times(problem: Problem) -> tuple[Floats, Floats]:
    """Return the mean time that each operator takes, (V,), and that each stream takes, (E,).

    Under the makespan objective, they are the mean execution times and the mean message times of
    HEFT (`streamplace.sim.schedule.ranks`), in seconds. Otherwise they are utilisations at the
    source rate: of a device of mean capacity, and of a mean link.
    """
    return compiled_parts(problem).mean_times


class _Streams(NamedTuple):
    """The streams of a graph, as `streamplace.sim.orders.Streams` has them."""

    source: Ints
    target: Ints
    operators: int


def _streams(graph: StreamGraph) -> _Streams:
    return _Streams(graph.stream_source, graph.stream_target, len(graph.names))


def _by_name(graph: StreamGraph) -> Ints:
    by = sorted(range(len(graph.names)), key=graph.names.__getitem__)
    return np.array(by, dtype=np.int32)


def _breadth_first(graph: StreamGraph) -> Ints:
    by_name = _by_name(graph)
    fed = np.zeros(len(by_name), dtype=np.bool_)
    fed[graph.stream_target] = True
    return orders.breadth_first(_streams(graph), by_name[~fed[by_name]])


def _heaviest_first(weight: Floats) -> Ints:
    return np.argsort(-weight, kind="stable").astype(np.int32)


def _by_level(graph: StreamGraph, operators: Floats, streams: Floats) -> Ints:
    """Return the operators by b-level, the highest first, and equal ones in topological order."""
    level = b_levels(graph.stream_source, graph.stream_target, operators, streams)
    return graph.order[np.argsort(-level[graph.order], kind="stable")]


STRUCTURAL: dict[str, Callable[[StreamGraph], Ints]] = {
    "lexico": _by_name,
    "topo-lifo": lambda graph: orders.newest_first(_streams(graph)),
    "topo-level": lambda graph: orders.oldest_first(_streams(graph)),
    "reversed-topo-lifo": lambda graph: orders.newest_first(_streams(graph))[::-1].copy(),
    "reversed-topo-level": lambda graph: orders.oldest_first(_streams(graph))[::-1].copy(),
    "dfs-preorder": lambda graph: orders.depth_first(_streams(graph))[0],
    "dfs-postorder": lambda graph: orders.depth_first(_streams(graph))[1],
    "bfs": _breadth_first,
    "by-depth": lambda graph: orders.by_depth(_streams(graph)),
    "by-path": lambda graph: orders.by_path(_streams(graph)),
}
"""The orders that depend only on names and streams."""
WEIGHTED: dict[str, Callable[[StreamGraph, Floats, Floats], Ints]] = {
    "heaviest-operator": lambda graph, operators, streams: _heaviest_first(operators),
    "heaviest-stream": lambda graph, operators, streams: orders.by_stream(_streams(graph), streams),
    "b-level": _by_level,
}
"""The orders that depend on the times of operators and streams, see `mean_times`."""
