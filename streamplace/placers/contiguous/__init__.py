"""Contiguous splits as a placer, for pipelines such as the layers of a neural network."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from sim import work_clock
from sim.contiguous import Lattice, Split, split
from sim.flow import Flow
from sim.orders import forward_part
from streamplace.errors import UsageError
from streamplace.placers.base import THROUGHPUT, BasePlacer
from streamplace.placers.contiguous.costs import Classes, classes_of, costs_of
from streamplace.placers.repair import feasible_ones
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import qualities
from streamplace.util.arrays import Bools, Ints

Edges = set[tuple[int, int]]

Choice = Callable[[list[int]], int]
"""Picks the next of the items that may follow, which are in the order in which they became so."""

IDEALS = 5_000
MOST_STEPS = 20_000_000  # pieces examined for all closed sets before orders must do
NO_LIMIT = 2**62
MOST_BLOCKS = 2_000  # blocks of consecutive items that an order is split between
MOST_DEVICES = 1_000
MOST_CELLS = 4_000_000  # closed sets x states of devices


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


@dataclass(frozen=True)
class Contiguous(BasePlacer):
    """Split the graph into contiguous pieces, one per device, by dynamic programming.

    The largest load of a device is minimised: its CPU work, with that of messages, and the load of
    its network interface, which is taken as a mean link of the device. Pieces follow one another:
    no stream leads from a later piece to an earlier one. Where the sets of operators that have all
    their predecessors (ideals) are few, the split is the best of all (Tarnawski et al. 2020).
    Otherwise, it is the best along several topological orders.

    Parameters
    ----------
    ideals
        Largest number of ideals to go over; with more of them, orders are split.
    """

    name: ClassVar[str] = "contiguous"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT
    ideals: int = IDEALS

    def __post_init__(self) -> None:
        if self.ideals < 1:
            raise UsageError(f"contiguous: ideals must be at least 1 (got {self.ideals})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        items = precedence(compiled(problem).flow, problem.feasibility.unit_of)
        drafts = self._drafts(problem, items, limited=True)
        if not drafts:  # no contiguous split satisfies the masks and limits
            drafts = self._drafts(problem, items, limited=False)
        placements = feasible_ones(problem, drafts)
        return placements[int(qualities(problem, placements).argmax())]

    def _drafts(self, problem: Problem, items: Precedence, *, limited: bool) -> list[Ints]:
        """Return placements, (V,) each, the best first; none if no split is possible."""
        classes = classes_of(problem, min(len(items), MOST_BLOCKS), MOST_DEVICES)
        found: list[tuple[float, Ints]] = []
        for order in orders(items):
            item_of = _blocks(items, order, classes.moves.states)[items.item_of]
            costs = costs_of(problem, item_of, classes, limited=limited)
            chain = prefixes(range(int(item_of.max()) + 1))
            result = split(costs, chain, classes.moves, _least(found), NO_LIMIT)
            found += _drafted(result, chain, classes, item_of)
        lattice = all_closed_sets(items, min(self.ideals, MOST_CELLS // classes.moves.states))
        if lattice is not None:
            costs = costs_of(problem, items.item_of, classes, limited=limited)
            result = split(costs, lattice, classes.moves, _least(found), MOST_STEPS)
            if result.steps >= 0:
                found += _drafted(result, lattice, classes, items.item_of)
        found.sort(key=lambda one: one[0])
        return [draft for _, draft in found]


def _least(found: list[tuple[float, Ints]]) -> float:
    """Return the smallest of the largest loads found so far."""
    return min((worst for worst, _ in found), default=inf)


def _blocks(items: Precedence, order: list[int], states: int) -> Ints:
    """Return the block of each item: consecutive items of an order, if there are many."""
    blocks = max(1, min(len(order), MOST_BLOCKS, MOST_CELLS // states))
    block = np.zeros(len(items), np.int32)
    block[order] = np.arange(len(order)) * blocks // len(order)
    return block


def _drafted(
    result: Split, lattice: Lattice, classes: Classes, item_of: Ints
) -> list[tuple[float, Ints]]:
    """Return the largest load of the best split and its placement, (V,); none if there is none."""
    last = len(lattice.first) - 2
    state = int(result.load[last].argmin())
    worst = float(result.load[last, state])
    if worst == inf:
        return []
    device, used = np.zeros(int(item_of.max()) + 1, np.int32), [0] * len(classes.devices)
    here = last
    while here > 0:
        move, source = int(result.by[here, state]), int(result.source[here, state])
        if move < 0:
            state -= 1
            continue
        c = int(classes.class_of_move[move])
        device[_inside(lattice, here) & ~_inside(lattice, source)] = classes.devices[c][used[c]]
        used[c] += 1
        here, state = source, int(classes.moves.before[move])
    return [(worst, device[item_of])]


def _inside(lattice: Lattice, one: int) -> Bools:
    """Return whether each item is in a closed set, (I,) bool."""
    inside = np.zeros(int(lattice.item.max()) + 1, dtype=np.bool_)
    entry_to = np.zeros(len(lattice.first) - 1, np.int64)
    entry_to[lattice.to] = np.arange(len(lattice.to))
    while one > 0:
        entry = entry_to[one]
        inside[lattice.item[entry]] = True
        one = int(np.searchsorted(lattice.first, entry, side="right")) - 1
    return inside
