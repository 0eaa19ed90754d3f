"""Flink's plans: the execution plan of a program, and the plan of a running job (REST)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from streamplace.engines.flink_chain import Chain, chain_of
from streamplace.engines.job import Distribution, Job
from streamplace.errors import FormatError
from streamplace.files.formats import ForeignForm
from streamplace.files.text import check, parse
from streamplace.graph import UNKNOWN, Operator, Stream, StreamGraph

MOST_PARALLEL = 1 << 15  # Flink's own limit
DISTRIBUTIONS = {
    "FORWARD": Distribution.POINTWISE,
    "RESCALE": Distribution.POINTWISE,
    "BROADCAST": Distribution.BROADCAST,
    "GLOBAL": Distribution.FIRST,
}
"""Flink's name -> how tuples are spread, for those that are not `ALL`."""
Parallelism = Annotated[int, Field(ge=1, le=MOST_PARALLEL)]


class PredecessorForm(ForeignForm):
    """A stream into an operator of an execution plan."""

    id: int
    ship_strategy: str = ""


class LogicalForm(ForeignForm):
    """An operator of an execution plan."""

    id: int
    type: str = ""
    contents: str = ""
    parallelism: Parallelism = 1
    predecessors: list[PredecessorForm] = Field([])


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
    parallelism: Parallelism = 1
    description: str = ""
    inputs: list[InputForm] = Field([])


class RunningForm(ForeignForm):
    """What a REST plan tells."""

    name: str = ""
    nodes: list[VertexForm] = Field(min_length=1)


@dataclass(frozen=True)
class Vertex:
    """A vertex of a running job.

    Parameters
    ----------
    id
        Flink's.
    operators
        Names in the job's graph, one for each of the chain.
    """

    id: str
    operators: tuple[str, ...]
    parallelism: int
    chain: Chain


@dataclass(frozen=True)
class RunningPlan:
    """A REST plan: its job, and which vertex runs which operators."""

    job: Job
    vertices: tuple[Vertex, ...]


def read(text: str, where: str) -> Job:
    """Read either plan, alone or inside a document (`explain_sql`'s text, ``/jobs/<id>``).

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    GraphError
        On streams that are none, and cycles.
    """
    value = _value(text, where)
    if isinstance(value, dict) and isinstance(value.get("plan"), dict):
        value = value["plan"]
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), list):
        raise FormatError(f"{where}: holds no plan of Flink: no object with 'nodes'")
    first = value["nodes"][0] if value["nodes"] else None
    if isinstance(first, dict) and isinstance(first.get("id"), str):
        return running(value, where).job
    return _execution(check(ExecutionForm, value, where), where)


def running(value: Any, where: str) -> RunningPlan:
    """Read the object ``plan`` of ``/jobs/<id>/plan``; see `read`."""
    form = check(RunningForm, value, where)
    index = _index([node.id for node in form.nodes], where)
    chains = [chain_of(node.description or f"vertex {node.id}") for node in form.nodes]
    names = iter(distinct([name for chain in chains for name in chain.names]))
    vertices = [
        Vertex(node.id, tuple(next(names) for _ in chain.names), node.parallelism, chain)
        for node, chain in zip(form.nodes, chains, strict=True)
    ]
    ties = [
        (vertex.operators[parent], name, Distribution.POINTWISE)
        for vertex in vertices
        for name, parent in zip(vertex.operators, vertex.chain.parents, strict=True)
        if parent is not None
    ]
    targets: dict[int, list[tuple[int, Distribution]]] = {}
    for t, node in enumerate(form.nodes):
        for i, source in enumerate(node.inputs):
            if source.id not in index:
                raise FormatError(f"{where}: nodes[{t}].inputs[{i}].id: no node is {source.id!r}")
            targets.setdefault(index[source.id], []).append((t, _distribution(source)))
    guessed: list[tuple[str, str]] = []
    for s, fed in targets.items():
        ends, certain = _senders(vertices[s], len(fed))
        for sender, (t, how) in zip(ends, fed, strict=True):
            ties.append((sender, vertices[t].operators[0], how))
            if not certain:
                guessed.append((sender, vertices[t].operators[0]))
    parallelism = {name: v.parallelism for v in vertices for name in v.operators}
    job = _job(parallelism, ties, form.name, guessed)
    return RunningPlan(job, tuple(vertices))


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names, those that stand again numbered: ``Map``, ``Map#2``, …"""
    given = [name or "unnamed" for name in names]
    taken, counts, found = set(given), dict[str, int](), []
    for name in given:
        counts[name] = count = counts.get(name, 0) + 1
        own = name
        while count > 1 and own in taken:
            own = f"{name}#{count}"
            count += 1
        counts[name] = max(counts[name], count - 1)
        taken.add(own)
        found.append(own)
    return found


def _execution(form: ExecutionForm, where: str) -> Job:
    index = _index([node.id for node in form.nodes], where)
    names = distinct(node.type or node.contents for node in form.nodes)
    ties = []
    for t, node in enumerate(form.nodes):
        for i, source in enumerate(node.predecessors):
            if source.id not in index:
                place = f"{where}: nodes[{t}].predecessors[{i}].id"
                raise FormatError(f"{place}: no node is {source.id!r:.40}")
            ties.append((names[index[source.id]], names[t], _distribution(source)))
    parallelism = {name: n.parallelism for name, n in zip(names, form.nodes, strict=True)}
    return _job(parallelism, ties, "", [])


def _job(
    parallelism: Mapping[str, int],
    ties: Sequence[tuple[str, str, Distribution]],
    name: str,
    guessed: Sequence[tuple[str, str]],
) -> Job:
    graph = StreamGraph(
        [Operator(operator, UNKNOWN, UNKNOWN) for operator in parallelism],
        [Stream(source, target, UNKNOWN) for source, target, _ in ties],
        name=name,
    )
    spread: dict[tuple[str, str], list[Distribution]] = {}
    for source, target, how in ties:
        spread.setdefault((source, target), []).append(how)
    return Job(
        graph,
        {operator: count for operator, count in parallelism.items() if count > 1},
        {ends: hows for ends, hows in spread.items() if set(hows) != {Distribution.ALL}},
        list(guessed),
    )


def _senders(vertex: Vertex, count: int) -> tuple[list[str], bool]:
    """Return which operator of a vertex feeds each of its targets, and whether that is certain.

    Where a chain forks the document does not tell; its ends are taken in the order of the targets.
    """
    leaves = [vertex.operators[i] for i in vertex.chain.leaves]
    open_ends = [name for name in leaves if not name.startswith("Sink: ")] or leaves
    ends = [open_ends[min(i, len(open_ends) - 1)] for i in range(count)]
    return ends, len(open_ends) == 1


def _distribution(source: InputForm | PredecessorForm) -> Distribution:
    return DISTRIBUTIONS.get(source.ship_strategy.upper(), Distribution.ALL)


def _index(ids: Sequence[Any], where: str) -> dict[Any, int]:
    index: dict[Any, int] = {}
    for i, key in enumerate(ids):
        if index.setdefault(key, i) != i:
            raise FormatError(f"{where}: nodes[{i}].id: {key!r:.40} is nodes[{index[key]}]'s too")
    return index


def _value(text: str, where: str) -> Any:
    """Return the JSON in a text: all of it, or what follows the heading of `explain_sql`."""
    begin = text.find("{")
    if begin >= 0 and text[:begin].strip():
        marker = text.find("== Physical Execution Plan ==")
        begin = text.find("{", max(marker, 0))
        if begin < 0:
            raise FormatError(f"{where}: no JSON follows '== Physical Execution Plan =='")
        try:
            _, end = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            end = len(text)  # `parse` says what is wrong
        text = text[begin:end]
    return parse(text, where)
