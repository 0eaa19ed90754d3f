"""Reader of compiled plans of Flink SQL, which ``COMPILE PLAN`` writes.

The format is that of Flink 2.3 (``JsonPlanGraph``, ``JsonPlanEdge`` and ``InputProperty`` of the
table planner). Edges are FORWARD throughout; what divides tuples are nodes of their own, exchanges,
whose distribution is the one that their input requires. At run time, an exchange is no operator but
how its sender sends (``StreamExecExchange`` makes a ``PartitionTransformation`` of it). Tables may
state the parallelism of a source or sink among their options (``ParallelismProvider``).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm
from streamplace.integrations.flink.nodes import (
    QuotedParallelism,
    distinct,
    distribution_of,
    each_once,
)
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


class _Options(ForeignForm):
    scan: QuotedParallelism | None = Field(None, alias="scan.parallelism")
    sink: QuotedParallelism | None = Field(None, alias="sink.parallelism")


class _Resolved(ForeignForm):
    options: _Options = _Options()


class _Table(ForeignForm):
    resolved: _Resolved = Field(_Resolved(), alias="resolvedTable")


class _Connector(ForeignForm):
    table: _Table = _Table()

    @property
    def options(self) -> _Options:
        return self.table.resolved.options


class _Node(ForeignForm):
    id: int
    type: str = ""
    inputs: list[_Input] = Field([], alias="inputProperties")
    source: _Connector = Field(_Connector(), alias="scanTableSource")
    sink: _Connector = Field(_Connector(), alias="dynamicTableSink")

    @property
    def parallelism(self) -> int | None:
        """The number of instances that the table of a source or sink states."""
        return self.source.options.scan or self.sink.options.sink

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
    parallelism = {name: node.parallelism for name, node in zip(names, nodes, strict=True)}
    groups = [*together.values()]
    return build_logical_graph(
        names,
        links,
        parallelism={
            name: count
            for sender, count in parallelism.items()
            if count
            for name in together.get(sender, [sender])
        },
        instructions=dict.fromkeys(exchanges, 0.0),
        constraints=Constraints(colocate=groups),
        by_channel=groups,
    )
