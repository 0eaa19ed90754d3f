"""Graphs as the network reads them, and several of them as one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.columns import by_operator
from streamplace.policy.hsdag.kernels.parsing import Successors
from streamplace.problem.grouping import Grouping
from streamplace.util.arrays import SMALLEST_NORMAL, Floats, Ints


@dataclass(frozen=True, eq=False)
class Graph:
    """K graphs with n vertices and M pairs of neighbours in total, end to end.

    Attributes
    ----------
    sizes
        (K,) numbers of vertices.
    ends
        (M, 2) int32 neighbours, each pair once, the lower index first.
    pairs
        (M,) number of pairs of a graph's own vertices that a pair of their groups stands for.
    traffic
        (M,) what these edges carry, relative to the mean edge of the problem.
    directed
        (E, 2) int32 edges.
    weight
        (n,) cost of each vertex on an average device, in units of what a device has if all work is
        shared evenly.
    """

    sizes: Ints
    ends: Ints
    pairs: Floats
    traffic: Floats
    directed: Ints
    weight: Floats

    @property
    def vertices(self) -> int:
        """The number of vertices, n."""
        return int(self.sizes.sum())

    @cached_property
    def graph_of(self) -> Ints:
        """(n,) the graph of each vertex."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    @cached_property
    def successors(self) -> Successors:
        """The directed edges by their source."""
        first, order = by_operator(self.directed[:, 0], self.vertices)
        return Successors(first, np.ascontiguousarray(self.directed[order, 1]))

    def quotient(self, group_of: Ints) -> "Graph":
        """Return the graphs of groups of their vertices, (n,), numbered graph by graph."""
        groups = int(group_of.max()) + 1
        first = np.unique(group_of, return_index=True)[1]
        sizes = np.bincount(self.graph_of[first], minlength=len(self.sizes)).astype(np.int32)
        ends = group_of[self.directed].astype(np.int32)
        weight = np.bincount(group_of, self.weight, groups).astype(np.float64)
        return _graph(sizes, weight, group_of[self.ends], self.pairs, self.traffic, ends)


def graph_of_grouping(grouping: Grouping, weight: Floats, ends: Ints, traffic: Floats) -> Graph:
    """Return the quotient graph of a grouping.

    Parameters
    ----------
    weight
        (G,) weight of each group, see `Graph`.
    ends
        (E, 2) operators at the ends of each stream.
    traffic
        (E,) what each stream carries.
    """
    between = grouping.group_of[ends].reshape(-1, 2)
    sizes = np.array([grouping.count], np.int32)
    single = np.ones(len(ends))
    made = _graph(sizes, weight, between, single, relative(traffic), between)
    return replace(made, pairs=np.ones(len(made.ends)))


def _graph(
    sizes: Ints, weight: Floats, ends: Ints, pairs: Floats, traffic: Floats, directed: Ints
) -> Graph:
    """Return a graph with the pairs joined that have the same ends, without loops."""
    low, high, vertices = ends.min(axis=1).astype(np.int64), ends.max(axis=1), len(weight)
    between = low != high
    code, which = np.unique(low[between] * vertices + high[between], return_inverse=True)
    which = which.reshape(-1)
    both = np.stack(np.divmod(code, vertices), axis=1).astype(np.int32)
    stood_for, carried = (
        np.bincount(which, x[between], len(code)).astype(np.float64) for x in (pairs, traffic)
    )
    arrows = directed[directed[:, 0] != directed[:, 1]]
    directed = np.ascontiguousarray(arrows, np.int32)
    return Graph(sizes, both, stood_for, carried, directed, weight)


def relative(values: Floats) -> Floats:
    """Return values, (N,), divided by their mean, or zeros if it is below all normal numbers.

    Older numpy warns of an overflow where it divides by such a number.
    """
    mean = float(values.mean()) if len(values) else 0.0
    return values / mean if mean >= SMALLEST_NORMAL else np.zeros(len(values))


def joined(graphs: Sequence[Graph]) -> Graph:
    """Return graphs as one, end to end."""
    starts = starts_of([graph.vertices for graph in graphs])
    return Graph(
        np.concatenate([graph.sizes for graph in graphs]),
        _shifted([graph.ends for graph in graphs], starts),
        np.concatenate([graph.pairs for graph in graphs]),
        np.concatenate([graph.traffic for graph in graphs]),
        _shifted([graph.directed for graph in graphs], starts),
        np.concatenate([graph.weight for graph in graphs]),
    )


def joined_groups(groups: Sequence[Ints]) -> Ints:
    """Return the groups of several graphs' vertices as numbers of one sequence."""
    return _shifted(groups, starts_of([int(one.max()) + 1 for one in groups]))


def starts_of(counts: Sequence[int]) -> Ints:
    """Return where each of several parts begins, one after the other."""
    return np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int32)


def _shifted(columns: Sequence[Ints], starts: Ints) -> Ints:
    parts = [column + start for column, start in zip(columns, starts, strict=True)]
    return np.concatenate(parts).astype(np.int32)
