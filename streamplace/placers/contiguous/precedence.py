"""Items of a graph that precede one another, their closed sets and their orders."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from streamplace.sim import work_clock
from streamplace.sim.contiguous import Lattice
from streamplace.sim.flow import Flow
from streamplace.sim.orders import forward_part
from streamplace.util.arrays import Ints

Edges = set[tuple[int, int]]
Choice = Callable[[list[int]], int]
"""Picks the next of the items that may follow, which are in the order in which they became so."""


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


def all_closed_sets(items: Precedence, limit: int) -> Lattice | None:
    """Return all closed sets of items, or None if there are more than `limit`.

    They are the sets of items that have every predecessor of each of their items; Tarnawski et al.
    (2020) call them ideals.
    """
    preceding = [sum(1 << a for a in before) for before in items.before]
    free = sum(1 << v for v, before in enumerate(items.before) if not before)
    number = {0: 0}
    waiting = [(0, free)]  # closed sets, and the items that each can be extended by
    first, item, to = [0], [], []
    for inside, addable in waiting:  # breadth first, so that sets are in the order of their sizes
        for v in _members(addable):
            more = inside | 1 << v
            if more not in number:
                if len(number) == limit:
                    return None
                number[more] = len(number)
                grown = addable ^ 1 << v
                for b in items.after[v]:
                    if preceding[b] & more == preceding[b]:
                        grown |= 1 << b
                waiting.append((more, grown))
            item.append(v)
            to.append(number[more])
        first.append(len(item))
    return _lattice(first, item, to)


def prefixes(order: Iterable[int]) -> Lattice:
    """Return the prefixes of an order of all items."""
    item = list(order)
    count = len(item)
    return _lattice([*range(count + 1), count], item, list(range(1, count + 1)))


def orders(items: Precedence) -> list[list[int]]:
    """Return several orders that respect the precedences, without duplicates.

    They are the breadth-first and the depth-first one, and both from the last items backwards.
    """
    found: list[list[int]] = []
    for choice in (_oldest, _newest):
        found.append(_order(items.before, items.after, choice))
        found.append(_order(items.after, items.before, choice)[::-1])
    return [order for i, order in enumerate(found) if order not in found[:i]]


def _order(before: list[list[int]], after: list[list[int]], choice: Choice) -> list[int]:
    missing = [len(items) for items in before]
    ready = [v for v, count in enumerate(missing) if count == 0]
    made = []
    while ready:
        v = choice(ready)
        made.append(v)
        for b in after[v]:
            missing[b] -= 1
            if missing[b] == 0:
                ready.append(b)
    return made


def _oldest(ready: list[int]) -> int:
    return ready.pop(0)


def _newest(ready: list[int]) -> int:
    return ready.pop()


def _members(bits: int) -> Iterable[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _lattice(first: list[int], item: list[int], to: list[int]) -> Lattice:
    columns: list[Ints] = [np.array(column, dtype=np.int32) for column in (first, item, to)]
    return Lattice(*columns)
