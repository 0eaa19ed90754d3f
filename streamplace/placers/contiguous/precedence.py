"""The items of a contiguous split, and which of them must precede which."""

from dataclasses import dataclass

import networkx as nx
import numpy as np

from sim.contiguous import first_part
from sim.flow import Flow
from streamplace.util.arrays import Ints


@dataclass(frozen=True)
class Precedence:
    """Items, numbered in an order that respects all precedences.

    Parameters
    ----------
    item_of
        (V,) item of each operator: its unit, or several units that only fit on one device.
    before, after
        For each item, the items that directly precede and follow it.
    """

    item_of: Ints
    before: list[list[int]]
    after: list[list[int]]

    def __len__(self) -> int:
        return len(self.before)


def precedence(flow: Flow, unit_of: Ints) -> Precedence:
    """Return the precedences between the units of a graph, (V,) `unit_of`.

    Streams run from one item to a later one. If units form cycles, as in a training graph, whose
    operators of the backward pass share devices with those of the forward pass, streams of the
    backward pass count in reverse and those between the passes do not count, so that the order is
    that of the forward pass. Units that are still on a cycle become one item.
    """
    source, target = flow.source, flow.target
    edges = _between(unit_of[source], unit_of[target])
    units = int(unit_of.max()) + 1
    graph = _graph(units, edges)
    if not nx.is_directed_acyclic_graph(graph):
        forward = first_part(flow.operators, unit_of, source, target, units)
        ahead = forward[source] & forward[target]
        back = ~forward[source] & ~forward[target]
        edges = _between(unit_of[source[ahead]], unit_of[target[ahead]])
        edges |= _between(unit_of[target[back]], unit_of[source[back]])
        graph = _graph(units, edges)
    return _numbered(graph, unit_of)


def _between(source: Ints, target: Ints) -> set[tuple[int, int]]:
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    return {(a, b) for a, b in pairs if a != b}


def _graph(units: int, edges: set[tuple[int, int]]) -> "nx.DiGraph[int]":
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(units))
    graph.add_edges_from(sorted(edges))
    return graph


def _numbered(graph: "nx.DiGraph[int]", unit_of: Ints) -> Precedence:
    """Return the items of a graph of units: its strongly connected components."""
    parts = [sorted(part) for part in nx.strongly_connected_components(graph)]
    parts.reverse()  # networkx lists a component after those that it leads to
    item_of_unit = np.zeros(len(graph), np.int32)
    for i, part in enumerate(parts):
        item_of_unit[part] = i
    before: list[list[int]] = [[] for _ in parts]
    after: list[list[int]] = [[] for _ in parts]
    ends = {(int(item_of_unit[a]), int(item_of_unit[b])) for a, b in graph.edges}
    for a, b in sorted(ends):
        if a != b:
            after[a].append(b)
            before[b].append(a)
    return Precedence(item_of_unit[unit_of], before, after)
