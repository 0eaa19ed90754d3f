"""The items of a contiguous split, and which of them must precede which."""

from dataclasses import dataclass

import numpy as np

from sim import work_clock
from sim.flow import Flow
from sim.forward_part import forward_part
from streamplace.util.arrays import Ints

Edges = set[tuple[int, int]]


@dataclass(frozen=True)
class Precedence:
    """Items, numbered in an order that respects all precedences.

    Parameters
    ----------
    item_of
        (V,) item of each operator: its unit, or several units that precede one another in a cycle.
    before, after
        For each item, the items that directly precede and follow it.
    """

    item_of: Ints
    before: list[list[int]]
    after: list[list[int]]

    def __len__(self) -> int:
        return len(self.before)


def precedence(flow: Flow, unit_of: Ints) -> Precedence:
    """Return the precedences between the units of a graph.

    Streams run from one item to a later one. If units form cycles, as in a training graph, whose
    operators of the backward pass share devices with those of the forward pass, streams of the
    backward pass count in reverse and those between the passes do not count, so that the order is
    that of the forward pass. Units that are still on a cycle become one item.

    Parameters
    ----------
    unit_of
        (V,) unit of each operator.
    """
    source, target = flow.source, flow.target
    count = int(unit_of.max()) + 1
    edges = _between(unit_of[source], unit_of[target])
    items = _components(count, edges)
    if len(items) < count:
        forward = forward_part(flow, unit_of)
        ahead = forward[source] & forward[target]
        back = ~forward[source] & ~forward[target]
        edges = _between(unit_of[source[ahead]], unit_of[target[ahead]])
        edges |= _between(unit_of[target[back]], unit_of[source[back]])
        items = _components(count, edges)
    return _numbered(items, edges, unit_of)


def _between(source: Ints, target: Ints) -> Edges:
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    return {(a, b) for a, b in pairs if a != b}


def _components(units: int, edges: Edges) -> list[list[int]]:
    """Return the strongly connected components of a graph of units, in topological order."""
    with work_clock.loading():
        import networkx  # noqa: PLC0415 - heavy

    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(units))
    graph.add_edges_from(sorted(edges))
    condensed = networkx.condensation(graph)
    members = networkx.get_node_attributes(condensed, "members")
    return [sorted(members[i]) for i in networkx.topological_sort(condensed)]


def _numbered(items: list[list[int]], edges: Edges, unit_of: Ints) -> Precedence:
    item_of_unit = np.zeros(sum(map(len, items)), np.int32)
    for i, units in enumerate(items):
        item_of_unit[units] = i
    before: list[list[int]] = [[] for _ in items]
    after: list[list[int]] = [[] for _ in items]
    for a, b in sorted({(int(item_of_unit[a]), int(item_of_unit[b])) for a, b in edges}):
        if a != b:
            after[a].append(b)
            before[b].append(a)
    return Precedence(item_of_unit[unit_of], before, after)
