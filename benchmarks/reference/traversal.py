"""Traversal orders by plain algorithms on lists, and random graphs to compare them on.

Depth-first and breadth-first searches are those of networkx. The topological order with a stack is
that of networkx 2.4, in which `topological_sort` took the newest node.
"""

from itertools import chain
from random import Random

import networkx as nx
import numpy as np

from streamplace.problem.graph import StreamGraph


def random_graph(seed: int) -> StreamGraph:
    """Return a random acyclic graph with shuffled operators, names and streams.

    It may have several sources, parallel streams, and operators without streams.
    """
    rng = Random(seed)
    count = rng.randint(1, 25)
    names = [f"op{number}" for number in rng.sample(range(200), count)]
    upstream_first = rng.sample(range(count), count)
    density = rng.choice((0.05, 0.15, 0.4))
    ends = [
        (upstream_first[a], upstream_first[b])
        for b in range(count)
        for a in range(b)
        if rng.random() < density
    ]
    ends += [pair for pair in ends if rng.random() < 0.1]
    rng.shuffle(ends)
    weights = [float(rng.randint(0, 9)) for _ in range(count)]
    payloads = [float(rng.randint(0, 9)) for _ in range(count)]
    return StreamGraph.from_columns(names, weights, payloads, ends or [[0, 0]][:0])


def as_networkx(graph: StreamGraph) -> "nx.DiGraph[int]":
    """Return the graph of operator indices; nodes and edges are in insertion order."""
    made: nx.DiGraph[int] = nx.DiGraph()
    made.add_nodes_from(range(len(graph.names)))
    ends = np.stack([graph.stream_source, graph.stream_target], axis=1)
    made.add_edges_from(ends.tolist())
    return made


def lexico(graph: StreamGraph) -> list[int]:
    """Return the operators sorted by name."""
    return [graph.index[name] for name in sorted(graph.names)]


def topo_lifo(graph: StreamGraph) -> list[int]:
    """Return the topological order of networkx 2.4."""
    digraph, order = as_networkx(graph), []
    waiting = dict(digraph.in_degree())
    ready = [v for v in digraph if waiting[v] == 0]
    while ready:
        order.append(ready.pop())
        for child in digraph.successors(order[-1]):
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    return order


def topo_level(graph: StreamGraph) -> list[int]:
    """Return the topological order of the installed networkx."""
    return list(nx.topological_sort(as_networkx(graph)))


def dfs_preorder(graph: StreamGraph) -> list[int]:
    """Return the preorder of a depth-first search over all operators."""
    return list(nx.dfs_preorder_nodes(as_networkx(graph)))


def dfs_postorder(graph: StreamGraph) -> list[int]:
    """Return the postorder of a depth-first search over all operators."""
    return list(nx.dfs_postorder_nodes(as_networkx(graph)))


def bfs(graph: StreamGraph) -> list[int]:
    """Return whole breadth-first searches from all sources by name, first occurrences only."""
    digraph = as_networkx(graph)
    sources = sorted((v for v in digraph if digraph.in_degree(v) == 0), key=graph.names.__getitem__)
    searches = ([s, *(v for _, v in nx.bfs_edges(digraph, s))] for s in sources)
    return list(dict.fromkeys(chain.from_iterable(searches)))


def heaviest_stream(graph: StreamGraph, times: list[float]) -> list[int]:
    """Return the ends of the streams, which take these times, from the longest time down."""
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    ranked = sorted(zip(times, ends, strict=True), key=lambda one: -one[0])
    visited = dict.fromkeys(chain.from_iterable(pair for _, pair in ranked))
    return list(dict.fromkeys([*visited, *range(len(graph.names))]))


def levels(graph: StreamGraph, operators: list[float], streams: list[float]) -> list[float]:
    """Return the longest path, in time, from the start of each operator to the end of a sink."""
    level = list(operators)
    outputs: dict[int, list[int]] = {v: [] for v in range(len(operators))}
    for e, source in enumerate(graph.stream_source.tolist()):
        outputs[source].append(e)
    for v in reversed(topo_level(graph)):
        after = [streams[e] + level[int(graph.stream_target[e])] for e in outputs[v]]
        level[v] += max(after, default=0.0)
    return level
