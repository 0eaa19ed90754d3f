"""Placements of a chain of operators."""

from itertools import pairwise

from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


def chain_placement(
    names: list[str],
    devices: list[int],
    instance_of: dict[str, str],
    cluster: Cluster | None = None,
) -> Placement:
    """Return a placement of operators that form a chain; default: five equal devices."""
    operators = [Operator(name, 1, 1, instance_of=instance_of.get(name, "")) for name in names]
    chain = [Stream(a, b) for a, b in pairwise(names)]
    graph = StreamGraph(operators, chain, source_rate=1.0)
    return Placement(Problem(graph, cluster or Cluster.equal()), devices)
