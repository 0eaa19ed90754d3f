"""Reader of compiled plans of Flink SQL, which ``COMPILE PLAN`` writes.

The format is that of Flink 2.3 (``JsonPlanGraph``, ``JsonPlanEdge`` and ``InputProperty`` of the
table planner). Edges are FORWARD throughout; what divides tuples are nodes of their own, exchanges,
whose distribution is the one that their input requires. At run time, an exchange is no operator but
how its sender sends (``StreamExecExchange`` makes a ``PartitionTransformation`` of it).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm
from streamplace.integrations.flink.nodes import distinct, distribution_of, each_once
from streamplace.integrations.logical_builder import Link, build_logical_graph
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.logical import LogicalGraph

VERSION, EDGES = "flinkVersion", "edges"
EXCHANGE = "-exec-exchange_"
"""Part of the type of an exchange, such as ``stream-exec-exchange_1``."""


class _Named(ForeignForm):
    type: str = ""


class _Input(ForeignForm):
    required: _Named = Field(_Named(), alias="requiredDistribution")


class _Node(ForeignForm):
    id: int
    type: str = ""
    inputs: list[_Input] = Field([], alias="inputProperties")

    @property
    def distribution(self) -> str:
        """The distribution of an exchange; empty for other nodes."""
        is_exchange = EXCHANGE in self.type and self.inputs
        return self.inputs[0].required.type if is_exchange else ""


class _Edge(ForeignForm):
    source: int
    target: int
    shuffle: _Named = _Named(type="FORWARD")


class _Plan(ForeignForm):
    nodes: list[_Node] = Field(min_length=1)
    edges: list[_Edge]


def is_compiled(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a compiled plan."""
    return VERSION in value or EDGES in value


def read_compiled(value: Mapping[str, Any], where: str) -> LogicalGraph:
    """Read a compiled plan; operators are named after the types of their nodes.

    An exchange does no work, sends what it receives, and stays with its sender, instance by
    instance.

    Raises
    ------
    FormatError
        If it is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the nodes do not form a stream graph.
    """
    plan = check(_Plan, value, where)
    nodes, index = each_once(plan.nodes, where)
    names = distinct(node.type for node in nodes)
    links: list[Link] = []
    together: dict[str, list[str]] = {}  # sender -> itself and its exchanges
    for i, edge in enumerate(plan.edges):
        for end, number in (("source", edge.source), ("target", edge.target)):
            if number not in index:
                raise FormatError(f"{where}: edges[{i}].{end}: unknown node {number!r:.40}")
        sender, receiver = index[edge.source], index[edge.target]
        divided = nodes[sender].distribution
        distribution = distribution_of(divided or edge.shuffle.type)
        selectivity = 1.0 if divided else UNKNOWN
        links.append(Link(names[sender], names[receiver], distribution, selectivity))
        if nodes[receiver].distribution:
            together.setdefault(names[sender], [names[sender]]).append(names[receiver])
    exchanges = [name for name, node in zip(names, nodes, strict=True) if node.distribution]
    groups = [*together.values()]
    return build_logical_graph(
        names,
        links,
        instructions=dict.fromkeys(exchanges, 0.0),
        constraints=Constraints(colocate=groups),
        by_channel=groups,
    )
