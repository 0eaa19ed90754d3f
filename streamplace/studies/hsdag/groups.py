"""Groups that are not learned, for the same policy, and problems whose groups stay together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from streamplace.errors import InfeasibleError
from streamplace.placers.partition.metis import edge_weights, partition, vertex_weights
from streamplace.policy.hsdag.features import EncodedProblem
from streamplace.policy.hsdag.graphs import Graph, joined_groups
from streamplace.policy.hsdag.kernels.parsing import by_score, parse
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.studies.hsdag.registered import HEAVY_GROUPS, METIS_GROUPS
from streamplace.util.arrays import Ints


@dataclass(frozen=True, eq=False)
class Fixed:
    """A parser that always makes the same groups of the vertices of one problem.

    Parameters
    ----------
    group_of
        (n,) the group of each vertex.
    """

    group_of: Ints

    def __call__(self, graph: Graph, least: Ints, scores: object) -> Ints:
        """Return the groups for each of several copies of the graph, end to end."""
        return joined_groups([self.group_of] * len(graph.sizes))


def heavy_edge_groups(one: EncodedProblem) -> Ints:
    """Return the groups of HSDAG's parser if edges are scored by their traffic, (n,)."""
    graph, least = one.graph, np.array([one.least], np.int32)
    order, limits = by_score(graph.traffic), (least, graph.weight, np.inf)
    made = parse(graph.ends, order, graph.graph_of, *limits, graph.successors, False)
    return made.astype(np.int32)


def metis_groups(one: EncodedProblem) -> Ints:
    """Return groups of METIS's recursive bisection, (n,), for the number of `heavy_edge_groups`.

    Vertices weigh as much as their mean cost, and edges as much as their traffic. METIS may leave
    groups empty, so that there are fewer; its k-way partitioning leaves more of them empty.
    """
    graph, parts = one.graph, int(heavy_edge_groups(one).max()) + 1
    ends, cost = graph.ends, one.cost.mean(axis=1)
    weights = vertex_weights(cost), edge_weights(graph.traffic)
    made = partition(ends[:, 0], ends[:, 1], *weights, None, parts, recursive=True)
    return np.unique(made, return_inverse=True)[1].reshape(-1).astype(np.int32)


FIXED: Mapping[str, Callable[[EncodedProblem], Ints]] = {
    METIS_GROUPS: metis_groups,
    HEAVY_GROUPS: heavy_edge_groups,
}
"""System -> the groups of its policy."""


def kept_together(problem: Problem, grouping: Grouping) -> Problem | None:
    """Return the same problem with every group on one device; None if some group fits on none."""
    rules, names = problem.constraints, problem.graph.names
    members = [np.flatnonzero(grouping.group_of == g) for g in range(grouping.count)]
    sets = [[names[v] for v in group] for group in members if len(group) > 1]
    try:
        return problem.with_constraints(replace(rules, colocate=[*rules.colocate, *sets]))
    except InfeasibleError:
        return None
