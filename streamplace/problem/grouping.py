"""Groupings of operators, and those by co-location coarsening: chains become one group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamplace.errors import ProblemError
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Bools, Floats, Ints
from streamplace.util.text import counted

if TYPE_CHECKING:
    from streamplace.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Quotient:
    """A graph whose G vertices are groups of operators; it may have cycles.

    Parameters
    ----------
    load
        (G,) sum of the weights of each group's operators.
    source, target
        (Q,) groups at the ends of each edge; every ordered pair appears once, sorted.
    traffic
        (Q,) sum of the weights of the streams between the two groups.
    """

    load: Floats
    source: Ints
    target: Ints
    traffic: Floats


class Grouping:
    """A partition of the operators into groups.

    Parameters
    ----------
    group_of
        (V,) group of each operator. The G groups are numbered 0..G-1, and none is empty.

    Raises
    ------
    ProblemError
        If `group_of` has another length or does not number groups this way.
    """

    def __init__(self, graph: StreamGraph, group_of: ArrayLike) -> None:
        values = np.asarray(group_of)
        if values.shape != (len(graph.names),) or values.dtype.kind not in "iu":
            raise ProblemError(
                f"groups: expected a whole number for each of {len(graph.names)} operators"
            )
        if values.min() < 0 or not np.bincount(values).all():
            raise ProblemError("groups: must be numbered 0, 1, … without empty groups")
        self.graph = graph
        self.group_of: Ints = values.astype(np.int32)
        self.count = int(values.max()) + 1

    def quotient(self, load: ArrayLike, traffic: ArrayLike) -> Quotient:
        """Return the quotient graph for operator weights `load`, (V,), and stream weights, (E,).

        Raises
        ------
        ProblemError
            If there is not a number for each operator and each stream.
        """
        load = _weights("load", load, len(self.graph.names), "operators")
        traffic = _weights("traffic", traffic, len(self.graph.stream_source), "streams")
        source = self.group_of[self.graph.stream_source].astype(np.int64)
        target = self.group_of[self.graph.stream_target]
        between = source != target
        pairs, which = np.unique(
            source[between] * self.count + target[between], return_inverse=True
        )
        return Quotient(
            np.bincount(self.group_of, weights=load, minlength=self.count).astype(np.float64),
            (pairs // self.count).astype(np.int32),
            (pairs % self.count).astype(np.int32),
            np.bincount(which, weights=traffic[between], minlength=len(pairs)).astype(np.float64),
        )

    def expand(self, of_groups: ArrayLike) -> NDArray[np.generic]:
        """Return a row per operator, (V, …): that of its group in `of_groups`, (G, …)."""
        return np.asarray(of_groups)[self.group_of]

    def __repr__(self) -> str:
        operators = counted(len(self.group_of), "operator")
        return f"<Grouping: {operators} in {counted(self.count, 'group')}>"


def _weights(what: str, values: ArrayLike, count: int, noun: str) -> Floats:
    """Return one weight per operator or stream."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        weights = None
    if weights is None or weights.shape != (count,):
        raise ProblemError(f"{what}: expected a number for each of {count} {noun}")
    return weights


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

    An operator and its only consumer are in one group if the consumer has no other producer. The
    quotient graph has no cycle.
    """
    root = np.arange(len(graph.names), dtype=np.int32)
    for first, second in chain_links(graph).tolist():
        root[second] = root[first]
    return Grouping(graph, _number_labels(root, graph.order))


def feasible_chain_groups(problem: "Problem", *, chains: bool = True) -> Grouping:
    """Return the groups of chains and of colocated operators, so that each has a device.

    Operators that constraints keep together are always in one group. A chain is divided where no
    device may run both of its parts, as when constraints keep operators of both apart.

    Parameters
    ----------
    chains
        Whether chains are joined at all.
    """
    graph, feasibility = problem.graph, problem.feasibility
    root, unit_of = list(range(feasibility.unit_count)), feasibility.unit_of.tolist()
    allowed: Bools = np.array(feasibility.allowed)  # of the units of each root
    apart = _sets_of_units(
        [*feasibility.excluding, *feasibility.separating], feasibility.unit_count
    )
    for first, second in chain_links(graph).tolist() if chains else ():
        a, b = _root(root, unit_of[first]), _root(root, unit_of[second])
        common = allowed[a] & allowed[b]
        if a != b and common.any() and apart[a].isdisjoint(apart[b]):
            root[b] = a
            allowed[a] = common
            apart[a] |= apart[b]
    roots = np.array([_root(root, unit) for unit in range(len(root))], np.int32)
    return Grouping(graph, _number_labels(roots[feasibility.unit_of], graph.order))


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


def _number_labels(labels: Ints, order: Ints) -> Ints:
    """Return labels of operators, (V,), as numbers by the first operator in an order, (V,)."""
    _, first, number = np.unique(labels[order], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered = np.empty(len(labels), np.int32)
    numbered[order] = rank[number.reshape(-1)]
    return numbered
