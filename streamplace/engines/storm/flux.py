"""Reader of Storm topologies in Flux YAML; it does not load the classes that they name."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from streamplace.engines.storm.settings import (
    DEFAULT_STREAM,
    OFF_HEAP,
    ON_HEAP,
    RESOURCES,
    Settings,
    distribution_of,
    is_internal,
    with_requests,
)
from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import (
    MAX_PARALLELISM,
    Link,
    Parallelism,
    build_logical_graph,
)
from streamplace.formats.yaml import parse_yaml
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph

UNSET = -1  # of Flux's VertexDef
MERGE_FIRST = "; includes are not read, so merge them first"
_PLACEHOLDER = re.compile(r"\$\{([^}\n]+)\}")
_WORD = re.compile("\ue000[0-9]+\ue001")
_ENVIRONMENT = "${ENV-"
_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)


def marked(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with a word of equal length for each placeholder, and word -> placeholder.

    The words are valid wherever the value of a placeholder may be, as in ``[${x}]``.
    """
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}

    def word_of(match: re.Match[str]) -> str:
        number = numbers.setdefault(match[0], len(numbers))
        word = f"\ue000{number:0{len(match[0]) - 2}}\ue001"
        words[word] = match[0]
        return word

    return _PLACEHOLDER.sub(word_of, text), words


def restore_placeholders(text: str, words: Mapping[str, str]) -> str:
    """Return a text with the placeholders in place of their words."""
    return _WORD.sub(lambda match: words.get(match[0], match[0]), text)


def placeholders_in(
    value: Any,
    words: Mapping[str, str],
    keys: Collection[str] | None = None,
    whole: Collection[str] = (),
) -> list[str]:
    """Return the placeholders in the texts of a document, in order.

    Parameters
    ----------
    keys
        The keys of objects under which to look; None: all.
    whole
        Those of them below which all keys count, whatever their names.
    """
    texts = _texts(value, keys, whole)
    found = (words.get(word) for text in texts for word in _WORD.findall(text))
    return list(dict.fromkeys(each for each in found if each))


def meaning(placeholders: Sequence[str]) -> str:
    """Return what placeholders stand for, as the beginning of a sentence."""
    variables = [each for each in placeholders if each.startswith(_ENVIRONMENT)]
    properties = [each for each in placeholders if each not in variables]
    file = "of a properties file (flux --filter)"
    parts = [
        _stand_for(properties, f"a value {file}", f"values {file}"),
        _stand_for(
            variables,
            "an environment variable (flux --env-filter)",
            "environment variables (flux --env-filter)",
        ),
    ]
    return " and ".join(part for part in parts if part)


def _stand_for(names: Sequence[str], one: str, several: str) -> str:
    if not names:
        return ""
    return f"{', '.join(names)} " + (
        f"stands for {one}" if len(names) == 1 else f"stand for {several}"
    )


def _texts(value: Any, keys: Collection[str] | None, whole: Collection[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, keys, whole)
    elif isinstance(value, dict):
        for key, item in value.items():
            if keys is None or key in keys:
                yield from _texts(item, None if key in whole else keys, whole)


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
    return _logical_graph(form, restore_placeholders(form.name, words), notes, where)


def _logical_graph(form: _Topology, name: str, notes: Sequence[str], where: str) -> LogicalGraph:
    components, settings = [*(form.spouts or ()), *(form.bolts or ())], form.config or Settings()
    if not components and form.includes:
        raise FormatError(f"{where}: no spouts{MERGE_FIRST}")
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
                hint = MERGE_FIRST if form.includes else ""
                raise FormatError(f"{place}: unknown spout or bolt {end!r:.40}{hint}")
        if kinds[stream.target] == "spout":
            raise FormatError(f"{place}.to: {stream.target!r:.40} is a spout, not a bolt")
        distribution = distribution_of(stream.grouping.type.lower())
        stream_id = stream.grouping.stream or DEFAULT_STREAM
        links.append(Link(stream.source, stream.target, distribution, id=stream_id))
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
            "set instructions per tuple in a costs file"
        )


FORMAT = Format(
    "storm-flux",
    about="Storm: a Flux topology, YAML",
    read=read,
    signs=Signs(text=re.compile(r"^(?:spouts|topologySource):", re.MULTILINE)),
)
