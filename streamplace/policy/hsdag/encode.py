"""What HSDAG reads of a problem: its coarse graph, features, and costs of devices."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from streamplace.policy.config import HsdagSizes
from streamplace.policy.encoded import SortedBatch
from streamplace.policy.hsdag.features import Single, features_of
from streamplace.policy.hsdag.graphs import Graph, graph_of_grouping
from streamplace.policy.partial.costs import mean_messages, partial_costs
from streamplace.problem.chains import feasible_chain_groups
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class EncodedProblem:
    """A problem as HSDAG reads it: n vertices, each a group of operators that stays together.

    Attributes
    ----------
    grouping
        The vertices.
    graph
        Their graph.
    features
        (n, d) float32 features.
    allowed
        (n, D) the devices that may run all operators of a vertex.
    cost
        (n, D) cost on each device, in units of what an average device has if all work is shared
        evenly.
    message
        Cost of an average stream between two devices, in the same units.
    least
        The number of groups from which on none are joined.
    """

    problem: Problem
    grouping: Grouping
    graph: Graph
    features: Single
    allowed: Bools
    cost: Floats
    message: float
    least: int

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.grouping.group_of)


HsdagBatch: TypeAlias = SortedBatch[EncodedProblem]


def encode(problem: Problem, sizes: HsdagSizes) -> EncodedProblem:
    """Return the features of a problem.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    costs, rules = partial_costs(problem), problem.feasibility
    grouping = feasible_chain_groups(problem, chains=sizes.chains)
    ends = np.stack([costs.source, costs.target], axis=1)
    devices = len(problem.cluster.devices)
    even = float(costs.mean.sum()) / devices
    unit = even if even > 0.0 else 1.0
    weight = np.zeros(grouping.count)
    np.add.at(weight, grouping.group_of, costs.mean / unit)
    graph = graph_of_grouping(grouping, weight, ends, costs.amount)
    shape = (grouping.count, devices)
    cost = np.zeros(shape)
    np.add.at(cost, grouping.group_of, costs.seconds)
    allowed = np.ones(shape, np.bool_)
    np.logical_and.at(allowed, grouping.group_of, rules.allowed[rules.unit_of])
    # a message without bytes counts as none, as in all results of the study hsdag
    messages = np.where(costs.amount > 0.0, mean_messages(costs), 0.0)
    return EncodedProblem(
        problem=problem,
        grouping=grouping,
        graph=graph,
        features=features_of(problem, grouping, graph, costs, sizes),
        allowed=allowed,
        cost=cost / unit,
        message=float(messages.mean()) / unit if len(messages) else 0.0,
        least=sizes.min_groups or 4 * devices,
    )
