"""Reader of Storm topologies in Flux YAML; it does not load the classes that they name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.integrations.logical_builder import (
    MAX_PARALLELISM,
    Link,
    Parallelism,
    build_logical_graph,
)
from streamplace.integrations.parsing.yaml import parse_yaml
from streamplace.integrations.storm.groupings import distribution_of
from streamplace.integrations.storm.placeholders import (
    marked,
    meaning,
    placeholders_in,
    restored,
)
from streamplace.integrations.storm.settings import (
    OFF_HEAP,
    ON_HEAP,
    RESOURCES,
    Settings,
    is_internal,
    with_requests,
)
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph

UNSET = -1  # of Flux's VertexDef
_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)


def _whole(value: Any) -> Any:
    """Convert a whole number in quotes, which Flux accepts."""
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


Executors = Annotated[Parallelism, BeforeValidator(_whole)]
Load = Annotated[int, BeforeValidator(_whole), Field(lt=2**31)]


class _Component(ForeignForm):
    id: Name
    parallelism: Executors = 1
    tasks: Load = Field(UNSET, alias="numTasks")
    on_heap: Load = Field(UNSET, alias="onHeapMemoryLoad")
    off_heap: Load = Field(UNSET, alias="offHeapMemoryLoad")
    cpu: Load = Field(UNSET, alias="cpuLoad")
    config: Settings | None = None

    def requests(self, topology: Settings) -> dict[str, float]:
        """Return what one executor requests; see `Settings.requests`.

        As in Flux, an off-heap load without an on-heap load is ignored.
        """
        loads = {ON_HEAP: self.on_heap, OFF_HEAP: self.off_heap if self.on_heap > UNSET else UNSET}
        stated = {name: load for name, load in loads.items() if load > UNSET}
        return topology.requests | stated | (self.config.requests if self.config else {})

    def most_executors(self, topology: Settings) -> int | None:
        """Return the number of tasks, which limits the executors; None if it is not stated."""
        own = [self.tasks if self.tasks > 0 else None, self.config and self.config.tasks]
        tasks = next((count for count in (*own, topology.tasks) if count), None)
        return min((count for count in (tasks, topology.most_tasks) if count), default=None)


class _Grouping(ForeignForm):
    type: Literal[
        "ALL", "CUSTOM", "DIRECT", "SHUFFLE", "LOCAL_OR_SHUFFLE", "FIELDS", "GLOBAL", "NONE"
    ]
    stream: Title | None = Field(None, alias="streamId")


class _Stream(ForeignForm):
    source: Name = Field(alias="from")
    target: Name = Field(alias="to")
    grouping: _Grouping

    @property
    def is_internal(self) -> bool:
        """Whether Storm itself sends it, such as the ticks of ``__system``."""
        return is_internal(self.source) or is_internal(self.grouping.stream or "")


class _Topology(ForeignForm):
    name: Title = ""
    config: Settings | None = None
    includes: list[Any] | None = None
    spouts: list[_Component] | None = None
    bolts: list[_Component] | None = None
    streams: list[_Stream] | None = None
    topology_source: Any = Field(None, alias="topologySource")


def _keys(*forms: type[BaseModel]) -> set[str]:
    return {field.alias or name for form in forms for name, field in form.model_fields.items()}


READ = _keys(_Topology, _Component, _Grouping, _Stream, Settings) - {"name", "includes"}
"""Keys whose values the graph needs."""


def read(text: str, where: str) -> LogicalGraph:
    """Read a Flux file.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the topology is not a stream graph.
    """
    text, words = marked(text)
    value = parse_yaml(text, where)
    placeholders = placeholders_in(value, words)
    if placeholders_in(value, words, READ, {RESOURCES}):
        them = "it" if len(placeholders) == 1 else "them"
        raise FormatError(f"{where}: {meaning(placeholders)}; replace {them} first")
    form = check(_Topology, value, where)
    if form.topology_source is not None:
        place = f"{where}: topologySource"
        raise FormatError(
            f"{place}: not supported, since a class builds the topology; "
            "import the running topology with --from storm-ui instead"
        )
    notes = [*_notes(form)]
    if placeholders:
        notes.append(f"{meaning(placeholders)}, which the graph does not need")
    return _logical_graph(form, restored(form.name, words), notes, where)


def _logical_graph(form: _Topology, name: str, notes: Sequence[str], where: str) -> LogicalGraph:
    components, settings = [*(form.spouts or ()), *(form.bolts or ())], form.config or Settings()
    links = _links(form, where)
    most = {each.id: count for each in components if (count := each.most_executors(settings))}
    fed = {link.target for link in links}
    alone = [bolt.id for bolt in form.bolts or () if bolt.id not in fed]
    if alone:
        notes = [*notes, f"no stream leads to the bolts {listed(alone)}, so they count as idle"]
    logical = build_logical_graph(
        [each.id for each in components],
        links,
        name=name,
        parallelism={
            each.id: min(each.parallelism, most.get(each.id, MAX_PARALLELISM))
            for each in components
        },
        source_shares=_shares([each.id for each in form.spouts or ()], alone),
    )
    requests = {each.id: each.requests(settings) for each in components}
    return with_requests(replace(logical, max_parallelism=most), requests, notes)


def _shares(spouts: Sequence[str], alone: Sequence[str]) -> dict[str, float] | None:
    """Return the sources' shares of the rate; None if only spouts are sources, all alike."""
    if not spouts or not alone:
        return None
    return dict.fromkeys(spouts, 1 / len(spouts)) | dict.fromkeys(alone, 0.0)


def _links(form: _Topology, where: str) -> list[Link]:
    """Return the streams between spouts and bolts."""
    kinds = {bolt.id: "bolt" for bolt in form.bolts or ()}
    kinds |= {spout.id: "spout" for spout in form.spouts or ()}
    links = []
    for i, stream in enumerate(form.streams or ()):
        if stream.is_internal:
            continue
        place = f"{where}: streams[{i}]"
        for end in (stream.source, stream.target):
            if end not in kinds:
                hint = "; includes are not read, so merge them first" if form.includes else ""
                raise FormatError(f"{place}: unknown spout or bolt {end!r:.40}{hint}")
        if kinds[stream.target] == "spout":
            raise FormatError(f"{place}.to: {stream.target!r:.40} is a spout, not a bolt")
        distribution = distribution_of(stream.grouping.type.lower())
        links.append(Link(stream.source, stream.target, distribution))
    return links


def _notes(form: _Topology) -> Iterator[str]:
    """Yield what the reader leaves out, one line each."""
    if form.config:
        yield from form.config.notes
    if form.includes:
        yield "includes are not read: merge the spouts, bolts, streams and settings in them first"
    if loads := [each.id for each in (*(form.spouts or ()), *(form.bolts or ())) if each.cpu > 0]:
        yield (
            f"cpuLoad of {listed(loads)} is not read, since it is for one source rate; "
            "set instructions per tuple in --costs"
        )
