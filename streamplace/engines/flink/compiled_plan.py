"""Reader of compiled plans of Flink SQL, which ``COMPILE PLAN`` writes.

The format is that of Flink 2.3 (``JsonPlanGraph``, ``JsonPlanEdge`` and ``InputProperty`` of the
table planner). Edges are FORWARD throughout; what divides tuples are nodes of their own, exchanges,
whose distribution is the one that their input requires. At run time, an exchange is no operator but
how its sender sends (``StreamExecExchange`` makes a ``PartitionTransformation`` of it), and a union
is none either: its inputs send to its receivers (``UnionTransformation``). Tables may state the
parallelism of a source or sink among their options (``ParallelismProvider``).
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import BeforeValidator, Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm
from streamplace.formats.logical_builder import Link, build_logical_graph, check_links
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.logical import (
    BY_KEY,
    AnyDistribution,
    Distribution,
    KeyedDistribution,
    LogicalGraph,
)
from streamplace.problem.parallelism import FLINK

MAX_PARALLELISM = 1 << 15  # Flink's own limit
Parallelism = Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
DIGITS = 10  # more than any whole number that Flink accepts here has
DISTRIBUTIONS: dict[str, AnyDistribution] = {
    "FORWARD": Distribution.POINTWISE,
    "RESCALE": Distribution.POINTWISE,
    "KEEP_INPUT_AS_IS": Distribution.POINTWISE,
    "BROADCAST": Distribution.BROADCAST,
    "GLOBAL": Distribution.FIRST,
    "SINGLETON": Distribution.FIRST,
    "HASH": BY_KEY,
}
"""Ship strategy, or distribution of a compiled plan -> distribution; others are `ALL`."""
BY_KEY_GROUP = KeyedDistribution(FLINK)
STREAM = "stream-exec-"
"""Types of nodes begin with it, unless the query is a batch job."""
VERSION, EDGES = "flinkVersion", "edges"
EXCHANGE = "-exec-exchange_"
"""Part of the type of an exchange, such as ``stream-exec-exchange_1``."""
UNION = "-exec-union_"
NAMES = (
    "operators have the names of a compiled plan, which the running job does not have; to export "
    "a placement, import the text of EXPLAIN JSON_EXECUTION_PLAN"
)


def _whole(value: Any) -> Any:
    """Convert a parallelism in quotes; the DataSet API writes ``default`` for none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < DIGITS:
        return int(value)
    return 1 if value == "default" else value


QuotedParallelism = Annotated[Parallelism, BeforeValidator(_whole)]


def _none_for_adaptive(value: Any) -> Any:
    """Convert -1, for a number that the adaptive batch scheduler chooses when the job runs."""
    found = _whole(value)
    return None if found == -1 or value == "-1" else found


OpenParallelism = Annotated[Parallelism | None, BeforeValidator(_none_for_adaptive)]
"""The number of instances; None: it is open."""


class Node(Protocol):
    """A node of a plan."""

    @property
    def id(self) -> Any:
        """Its id."""
        ...


AnyNode = TypeVar("AnyNode", bound=Node)


def distribution_of(name: str) -> AnyDistribution:
    """Return the distribution of a ship strategy or of a compiled plan's distribution.

    ``HASH`` sends key groups (``KeyGroupStreamPartitioner``). Batch jobs that name the keys,
    ``HASH[word]`` in SQL and ``Hash Partition on [0]`` in the DataSet API, divide the hashes evenly
    (``BinaryHashPartitioner``).
    """
    strategy = name.upper()
    if strategy == "HASH":
        return BY_KEY_GROUP
    return DISTRIBUTIONS.get(re.split(r"\[| PARTITION\b", strategy)[0], Distribution.ALL)


def each_once(nodes: Sequence[AnyNode], where: str) -> tuple[list[AnyNode], dict[Hashable, int]]:
    """Return the nodes without repetitions, and the number of each by its id.

    Raises
    ------
    FormatError
        If two different nodes have the same id.
    """
    found: list[AnyNode] = []
    index: dict[Hashable, int] = {}
    for i, node in enumerate(nodes):
        if node.id not in index:
            index[node.id] = len(found)
            found.append(node)
        elif (first := found[index[node.id]]) != node:
            raise FormatError(
                f"{where}: nodes[{i}].id: {node.id!r:.40} is also the id of "
                f"nodes[{nodes.index(first)}]"
            )
    return found, index


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names with repetitions numbered: ``Map``, ``Map#2``, …"""
    originals = [name or "unnamed" for name in names]
    taken, counts, found = set(originals), dict[str, int](), []
    for name in originals:
        counts[name] = count = counts.get(name, 0) + 1
        unique = name
        while count > 1 and unique in taken:
            unique = f"{name}#{count}"
            count += 1
        counts[name] = max(counts[name], count - 1)
        taken.add(unique)
        found.append(unique)
    return found


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


_Ends = tuple[int, int, str]
"""Numbers of the sender and the receiver of an edge, and its ship strategy."""


def is_compiled(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a compiled plan."""
    return VERSION in value or EDGES in value


def read_compiled(value: Mapping[str, Any], where: str) -> LogicalGraph:
    """Read a compiled plan; operators are named after the types of their nodes.

    An exchange does no work, sends what it receives, and stays with its sender, instance by
    instance; one behind a union counts once for each sender. A union is left out.

    Raises
    ------
    FormatError
        If it is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the nodes do not form a stream graph.
    """
    plan = check(_Plan, value, where)
    nodes, index = each_once(plan.nodes, where)
    edges: list[_Ends] = []
    for i, edge in enumerate(plan.edges):
        for end, number in (("source", edge.source), ("target", edge.target)):
            if number not in index:
                raise FormatError(f"{where}: edges[{i}].{end}: unknown node {number!r:.40}")
        edges.append((index[edge.source], index[edge.target], edge.shuffle.type))
    nodes, edges = _at_run_time(nodes, edges, where)
    names = distinct(node.type for node in nodes)
    links: list[Link] = []
    together: dict[str, list[str]] = {}  # sender -> itself and its exchanges
    for sender, receiver, shuffle in edges:
        divided = nodes[sender].distribution
        selectivity = 1.0 if divided else UNKNOWN
        distribution = distribution_of(divided or shuffle)
        if distribution == BY_KEY_GROUP and not nodes[sender].type.startswith(STREAM):
            distribution = BY_KEY
        links.append(Link(names[sender], names[receiver], distribution, selectivity))
        if nodes[receiver].distribution:
            together.setdefault(names[sender], [names[sender]]).append(names[receiver])
    exchanges = [name for name, node in zip(names, nodes, strict=True) if node.distribution]
    parallelism = {name: node.parallelism for name, node in zip(names, nodes, strict=True)}
    counts = {
        name: count
        for sender, count in parallelism.items()
        if count
        for name in together.get(sender, [sender])
    }
    groups = [*together.values()]
    logical = build_logical_graph(
        names,
        links,
        parallelism=counts,
        instructions=dict.fromkeys(exchanges, 0.0),
        constraints=Constraints(colocate=groups),
        by_channel=groups,
    )
    open_counts = [name for name in names if name not in counts]
    return replace(logical, notes=[NAMES], open_counts=open_counts)


def _at_run_time(
    nodes: list[_Node], edges: list[_Ends], where: str
) -> tuple[list[_Node], list[_Ends]]:
    """Leave out the unions, and repeat an exchange behind one for each of its senders.

    Raises
    ------
    FormatError
        If there would be more than a million edges, since nested unions can have very many.
    """
    if not any(UNION in node.type for node in nodes):
        return nodes, edges
    into = defaultdict[int, list[tuple[int, str]]](list)
    for sender, receiver, shuffle in edges:
        into[receiver].append((sender, shuffle))
    order = TopologicalSorter({i: [sender for sender, _ in into[i]] for i in range(len(nodes))})
    try:
        ordered = [*order.static_order()]
    except CycleError:
        return nodes, edges  # which no stream graph takes
    passed = 0
    found: list[int] = []  # numbers in `nodes`
    sent: list[_Ends] = []
    senders: dict[int, list[int]] = {}  # node -> the numbers in `found` of what sends its tuples
    for i in ordered:
        passed += sum(len(senders[sender]) for sender, _ in into[i])
        check_links(passed, where)
        inputs = [(number, shuffle) for sender, shuffle in into[i] for number in senders[sender]]
        if UNION in nodes[i].type:
            senders[i] = [number for number, _ in inputs]
            continue
        apart = nodes[i].distribution and inputs
        groups = [[each] for each in inputs] if apart else [inputs]
        senders[i] = [*range(len(found), len(found) + len(groups))]
        found += [i] * len(groups)
        for number, group in zip(senders[i], groups, strict=True):
            sent += [(sender, number, shuffle) for sender, shuffle in group]
    by_file = sorted(range(len(found)), key=found.__getitem__)
    place = {number: k for k, number in enumerate(by_file)}
    return [nodes[found[n]] for n in by_file], [(place[a], place[b], s) for a, b, s in sent]
