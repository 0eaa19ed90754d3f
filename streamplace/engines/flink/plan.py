"""Readers of Flink's plans: of a program, of a running job, and compiled ones of SQL."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from pydantic import Field

from streamplace.engines.flink.chain import Chain, chain_of, senders
from streamplace.engines.flink.compiled_plan import (
    OpenParallelism,
    distinct,
    distribution_of,
    each_once,
    is_compiled,
    read_compiled,
)
from streamplace.engines.flink.key_groups import counts_in, stated_most, with_limits
from streamplace.engines.flink.pasted import HEADING, only_plan
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import Link, build_logical_graph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import Distribution, LogicalGraph

DATA_SET = {"source", "sink", "pact", "bulk_iteration", "workset_iteration"}
"""Types in execution plans of the DataSet API, where the contents describe an operator."""
CUSTOM = "CUSTOM"


class PredecessorForm(ForeignForm):
    """A stream into an operator of an execution plan."""

    id: int
    ship_strategy: str = ""


class LogicalForm(ForeignForm):
    """An operator of an execution plan."""

    id: int
    type: str = ""
    pact: str = ""
    contents: str = ""
    parallelism: OpenParallelism = 1
    predecessors: list[PredecessorForm] = Field([])
    steps: list[Any] = Field([], alias="step_function")

    @property
    def name(self) -> str:
        """What names it: its type, or its contents where all operators have the same few types."""
        if self.type in DATA_SET:
            return self.contents or self.pact
        return self.type or self.contents


class ExecutionForm(ForeignForm):
    """An execution plan."""

    nodes: list[LogicalForm] = Field(min_length=1)


class InputForm(ForeignForm):
    """A stream into a vertex."""

    id: str
    ship_strategy: str = ""


class VertexForm(ForeignForm):
    """A vertex: operators that Flink chained."""

    id: str
    parallelism: OpenParallelism = 1
    description: str = ""
    inputs: list[InputForm] = Field([])


class RunningForm(ForeignForm):
    """A REST plan."""

    name: str = ""
    nodes: list[VertexForm] = Field(min_length=1)


@dataclass(frozen=True)
class Vertex:
    """A vertex of a running job.

    Parameters
    ----------
    id
        Flink's id of the vertex.
    operators
        Names in the logical graph, one for each member of the chain.
    """

    id: str
    operators: tuple[str, ...]
    parallelism: int
    chain: Chain


@dataclass(frozen=True)
class RunningPlan:
    """A REST plan: the logical graph, and the vertices that run its operators."""

    logical: LogicalGraph
    vertices: tuple[Vertex, ...]

    @cached_property
    def vertex_of(self) -> dict[str, Vertex]:
        """Operator -> its vertex."""
        return {name: vertex for vertex in self.vertices for name in vertex.operators}

    @cached_property
    def sources(self) -> frozenset[str]:
        """The operators without inputs."""
        graph = self.logical.graph
        return frozenset(graph.names[v] for v in graph.sources)


def read(text: str, where: str) -> LogicalGraph:
    """Read any of the plans, alone or inside another text; see `only_plan`.

    Nodes that the plan repeats count once.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If an operator feeds itself, or the streams form a cycle.
    """
    document = _document(text, where)
    value = _plan_in(document)
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), list):
        raise FormatError(
            f"{where}: not a Flink plan: expected an object with 'nodes', as GET /jobs/ID/plan "
            "answers"
        )
    if is_compiled(value):
        return read_compiled(value, where)
    if _first_id(value) is not None:
        plan = running(value, where, counts_in(document))
        most = stated_most(document)
        of_operators = {name: most[v.id] for name, v in plan.vertex_of.items() if v.id in most}
        return with_limits(plan.logical, of_operators)
    return _execution(check(ExecutionForm, value, where), where)


def read_running(text: str, where: str) -> RunningPlan:
    """Read the plan of a running job, as ``/jobs/<id>/plan`` or ``/jobs/<id>`` answers.

    Raises
    ------
    FormatError, GraphError
        As `read` does.
    """
    value = _plan_in(_document(text, where))
    if not isinstance(value, dict) or _first_id(value) is None:
        raise FormatError(
            f"{where}: not the plan of a running job, with the ids of its vertices; save what GET "
            "/jobs/ID/plan answers"
        )
    return running(value, where)


def running(
    value: Any, where: str, counts: Mapping[str, int] = MappingProxyType({})
) -> RunningPlan:
    """Read the object ``plan`` of ``/jobs/<id>/plan``; see `read`.

    Parameters
    ----------
    counts
        Vertex -> number of its instances, which count where the plan leaves them open.
    """
    form = check(RunningForm, value, where)
    for each in form.nodes:
        each.parallelism = each.parallelism or counts.get(each.id)
    nodes, index = each_once(form.nodes, where)
    chains = [chain_of(node.description or f"vertex {node.id}") for node in nodes]
    vertices = _vertices(nodes, chains)
    links = [
        Link(vertex.operators[parent], name, Distribution.POINTWISE)
        for vertex in vertices
        for name, parent in zip(vertex.operators, vertex.chain.parents, strict=True)
        if parent is not None
    ]
    targets: dict[int, list[tuple[int, str]]] = {}
    for t, node in enumerate(nodes):
        for i, source in enumerate(node.inputs):
            if source.id not in index:
                raise FormatError(f"{where}: nodes[{t}].inputs[{i}].id: unknown node {source.id!r}")
            targets.setdefault(index[source.id], []).append((t, source.ship_strategy))
    guessed: list[tuple[str, str]] = []
    strategies: list[tuple[str, str, str]] = []
    for s, fed in targets.items():
        ends = senders(chains[s], [chains[t] for t, _ in fed])
        for (member, certain), (t, how) in zip(ends, fed, strict=True):
            sender, receiver = vertices[s].operators[member], vertices[t].operators[0]
            link = Link(sender, receiver, distribution_of(how))
            links.append(link)
            strategies.append((sender, receiver, how))
            if not certain:
                guessed.append((link.source, link.target))
    parallelism = {name: v.parallelism for v in vertices for name in v.operators}
    logical = build_logical_graph(list(parallelism), links, name=form.name, parallelism=parallelism)
    open_ids = {node.id for node in nodes if node.parallelism is None}
    open_counts = [name for v in vertices if v.id in open_ids for name in v.operators]
    notes = [*_notes(chains), *_custom(strategies)]
    known = replace(logical, guessed=guessed, notes=notes, open_counts=open_counts)
    return RunningPlan(known, tuple(vertices))


def _vertices(nodes: Sequence[VertexForm], chains: Sequence[Chain]) -> list[Vertex]:
    """Return the vertices; repeated names are numbered from the sources onwards.

    The plan lists the vertices from the sinks to the sources.
    """
    upstream_first = [name for chain in reversed(chains) for name in chain.names]
    names = iter(distinct(upstream_first))
    operators_of = [tuple(next(names) for _ in chain.names) for chain in reversed(chains)]
    return [
        Vertex(node.id, operators, node.parallelism or 1, chain)
        for node, operators, chain in zip(nodes, reversed(operators_of), chains, strict=True)
    ]


def _custom(links: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a note on streams, with their ship strategies, that the job itself divides."""
    own = [f"{a} -> {b}" for a, b, how in links if how.upper().startswith(CUSTOM)]
    if not own:
        return []
    return [f"how the job's own partitioner divides {listed(own)} is unknown; it counts as even"]


def _notes(chains: Sequence[Chain]) -> list[str]:
    counts = Counter(name for chain in chains for name in chain.names)
    if not (repeated := [name for name, count in counts.items() if count > 1]):
        return []
    return [
        f"several operators are named {listed(repeated)}: they are numbered from the sources "
        "onwards, which may differ from the order in which the job creates them; "
        "give them distinct names"
    ]


def _execution(form: ExecutionForm, where: str) -> LogicalGraph:
    nodes, index = each_once(form.nodes, where)
    names = distinct(node.name for node in nodes)
    links, strategies = [], []
    for t, node in enumerate(nodes):
        for i, source in enumerate(node.predecessors):
            if source.id not in index:
                place = f"{where}: nodes[{t}].predecessors[{i}].id"
                raise FormatError(f"{place}: unknown node {source.id!r:.40}")
            distribution = distribution_of(source.ship_strategy)
            sender = names[index[source.id]]
            links.append(Link(sender, names[t], distribution))
            strategies.append((sender, names[t], source.ship_strategy))
    parallelism = {name: n.parallelism or 1 for name, n in zip(names, nodes, strict=True)}
    open_counts = [name for name, n in zip(names, nodes, strict=True) if n.parallelism is None]
    built = build_logical_graph(names, links, parallelism=parallelism)
    logical = replace(built, open_counts=open_counts, notes=_custom(strategies))
    if not (iterations := [name for name, n in zip(names, nodes, strict=True) if n.steps]):
        return logical
    note = f"{listed(iterations)}: the steps of an iteration count as one operator"
    return replace(logical, notes=[*logical.notes, note])


def _first_id(value: Mapping[str, Any]) -> str | None:
    """Return the id of the first vertex of a plan; None if it has none, or numbers for ids."""
    nodes = value.get("nodes")
    first = nodes[0] if isinstance(nodes, list) and nodes else None
    found = first.get("id") if isinstance(first, dict) else None
    return found if isinstance(found, str) else None


def _document(text: str, where: str) -> Any:
    """Return the JSON value with a plan in a text."""
    return parse(only_plan(text, where), where)


def _plan_in(value: Any) -> Any:
    inner = value.get("plan") if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else value


FORMAT = Format(
    "flink-plan",
    about="Flink: getExecutionPlan(), explain_sql(), COMPILE PLAN, GET /jobs/ID/plan",
    read=read,
    signs=Signs(
        text=HEADING,
        fields=(
            frozenset({"nodes[].pact", "nodes[].parallelism"}),
            frozenset({"nodes[].description", "nodes[].parallelism"}),
            frozenset({"nodes[].id", "flinkVersion"}),
        ),
        around=("plan",),
    ),
)
