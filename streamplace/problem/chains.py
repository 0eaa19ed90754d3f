"""Co-location coarsening: operators in a chain become one group."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from streamplace.problem.graph import StreamGraph
from streamplace.problem.grouping import Grouping
from streamplace.util.arrays import Bools, Ints

if TYPE_CHECKING:
    from streamplace.problem.problem import Problem


def chain_links(graph: StreamGraph) -> Ints:
    """Return the pairs of operators, (L, 2), that only one stream's ends are to each other.

    The second is the only consumer of the first, and the first is the only producer of the second;
    several streams between two operators count once. Pairs are in topological order.
    """
    ends = np.stack([graph.stream_source, graph.stream_target], axis=1)
    pairs = np.unique(ends, axis=0).reshape(-1, 2)
    operators = len(graph.names)
    outputs = np.bincount(pairs[:, 0], minlength=operators)
    inputs = np.bincount(pairs[:, 1], minlength=operators)
    links = pairs[(outputs[pairs[:, 0]] == 1) & (inputs[pairs[:, 1]] == 1)]
    position = np.empty(operators, np.int32)
    position[graph.order] = np.arange(operators)
    by_source = np.argsort(position[links[:, 0]], kind="stable")
    ordered: Ints = links[by_source].astype(np.int32)
    return ordered


def chain_groups(graph: StreamGraph) -> Grouping:
    """Return a group for each chain of operators, and for each operator that is in none.

    An operator and its only consumer are in one group if the consumer has no other producer, which
    is the rule of HSDAG (Duan et al., NeurIPS 2024). The quotient graph has no cycle.
    """
    root = np.arange(len(graph.names), dtype=np.int32)
    for first, second in chain_links(graph).tolist():
        root[second] = root[first]
    return Grouping(graph, _numbered(root, graph.order))


def feasible_chain_groups(problem: "Problem", *, chains: bool = True) -> Grouping:
    """Return the groups of chains and of colocated operators, so that each has a device.

    Operators that constraints keep together are always in one group. A chain is divided where no
    device may run both of its parts, as when constraints keep operators of both apart.

    Parameters
    ----------
    chains
        Whether chains are joined at all.
    """
    graph, rules = problem.graph, problem.feasibility
    root, unit_of = list(range(rules.unit_count)), rules.unit_of.tolist()
    allowed: Bools = np.array(rules.allowed)  # of the units of each root
    apart = _sets_of_units([*rules.excluding, *rules.separating], rules.unit_count)
    for first, second in chain_links(graph).tolist() if chains else ():
        a, b = _root(root, unit_of[first]), _root(root, unit_of[second])
        common = allowed[a] & allowed[b]
        if a != b and common.any() and apart[a].isdisjoint(apart[b]):
            root[b] = a
            allowed[a] = common
            apart[a] |= apart[b]
    roots = np.array([_root(root, unit) for unit in range(len(root))], np.int32)
    return Grouping(graph, _numbered(roots[rules.unit_of], graph.order))


def _root(root: list[int], unit: int) -> int:
    """Return the root of a unit, and shorten the way to it."""
    while root[unit] != unit:
        root[unit] = root[root[unit]]
        unit = root[unit]
    return unit


def _sets_of_units(sets: Sequence[Sequence[int]], units: int) -> list[set[int]]:
    """Return the numbers of the sets that each unit is in."""
    made = [set[int]() for _ in range(units)]
    for number, members in enumerate(sets):
        for unit in members:
            made[unit].add(number)
    return made


def _numbered(labels: Ints, order: Ints) -> Ints:
    """Return labels of operators, (V,), as numbers by the first operator in an order, (V,)."""
    _, first, number = np.unique(labels[order], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered = np.empty(len(labels), np.int32)
    numbered[order] = rank[number.reshape(-1)]
    return numbered
