"""Answers (documents) of Storm's UI about a topology, recognised by content and merged."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from streamplace.engines.storm.settings import Amount, Settings, is_internal, requests_of_executor
from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.logical_builder import MAX_PARALLELISM

KINDS = ("visualization", "metrics", "topology")
PAGES = "components"
"""The key of component -> answer of ``/component/NAME``, beside `KINDS`."""


Executors = Annotated[int, Field(ge=0, le=MAX_PARALLELISM)]


class _Input(ForeignForm):
    component: Name = Field(alias=":component")
    stream: Name = Field(alias=":stream")
    grouping: Title = Field("", alias=":grouping")


class _VisualizedComponent(ForeignForm):
    type: Title = Field("", alias=":type")
    inputs: list[_Input] = Field([], alias=":inputs")
    stats: list[Any] | None = Field(None, alias=":stats", max_length=MAX_PARALLELISM)


class _Emitted(ForeignForm):
    stream_id: Name
    value: Amount


class _Executed(_Emitted):
    component_id: Name


class _ComponentMetrics(ForeignForm):
    id: Name
    emitted: list[_Emitted] = Field([])
    executed: list[_Executed] = Field([])
    executed_ms_avg: list[_Executed] = Field([])


class _Metrics(ForeignForm):
    window: str | int = ":all-time"
    spouts: list[_ComponentMetrics] = Field([])
    bolts: list[_ComponentMetrics] = Field([])


class _Component(ForeignForm):
    executors: Executors = 1
    tasks: Executors = 0
    on_heap: Amount | None = Field(None, alias="requestedMemOnHeap")
    off_heap: Amount | None = Field(None, alias="requestedMemOffHeap")
    generic: Title | None = Field(None, alias="requestedGenericResourcesComp")


class _Spout(_Component):
    id: Name = Field(alias="spoutId")


class _Bolt(_Component):
    id: Name = Field(alias="boltId")


class _Topology(ForeignForm):
    name: Title = ""
    uptime_s: Amount | None = Field(None, alias="uptimeSeconds")
    configuration: Settings | None = None
    spouts: list[_Spout] = Field([])
    bolts: list[_Bolt] = Field([])


class _Executor(ForeignForm):
    id: Annotated[str, Field(max_length=64)] = ""
    host: Title = ""
    emitted: Amount = 0.0
    executed: Amount | None = None

    @property
    def first_task(self) -> int:
        """The number of its first task; its id is such as ``[24-25]``."""
        number = self.id.strip("[]").partition("-")[0]
        return int(number) if number.isdecimal() else 0


class _Page(ForeignForm):
    executors: list[_Executor] = Field([], alias="executorStats", max_length=MAX_PARALLELISM)


@dataclass
class Topology:
    """A running topology without Storm's internal components (`__acker`, `__metrics`, …).

    Attributes
    ----------
    executors
        Component -> its number of executors, 1 if unknown; all components are keys.
    most
        Component -> the largest number of executors that its tasks allow, where this is known.
    bolts
        Components that a document lists as bolts; they do not generate tuples.
    groupings
        (source, stream id, target) -> the grouping, "" if unknown.
    counted
        Components whose emitted tuples are listed. Storm counts them by stream, and a stream has
        no counter before its first tuple (``MultiCountMetric.scope``).
    emitted
        (component, stream id) -> tuples in the window.
    executed
        (source, stream id, bolt) -> tuples that the bolt executed in the window.
    execute_ms
        (source, stream id, bolt) -> mean time of the bolt per tuple, ms.
    tuples
        Component -> tuples in the window of each of its executors, in the order of their tasks:
        executed, or emitted by a spout; where the document lists all executors.
    hosts
        Component -> the host of each of these executors.
    window
        Length of the window in seconds, or None for all time.
    uptime_s
        Time since the topology started.
    requests
        Component -> resource -> what one executor requests; see `Settings.requests`.
    notes
        What is left out, one line each.
    """

    name: str = ""
    executors: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    bolts: set[str] = field(default_factory=set)
    groupings: dict[tuple[str, str, str], str] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    emitted: dict[tuple[str, str], float] = field(default_factory=dict)
    executed: dict[tuple[str, str, str], float] = field(default_factory=dict)
    execute_ms: dict[tuple[str, str, str], float] = field(default_factory=dict)
    tuples: dict[str, list[float]] = field(default_factory=dict)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    window: float | None = None
    uptime_s: float | None = None
    requests: dict[str, dict[str, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def components_of(value: Any) -> list[str]:
    """Return the components that an answer of ``/topology/ID`` lists; none if it is not valid."""
    try:
        form = check(_Topology, value, "topology")
    except FormatError:  # it is reported once all documents are there
        return []
    parts: list[_Spout | _Bolt] = [*form.spouts, *form.bolts]
    return [part.id for part in parts if not is_internal(part.id)]


def topology_from(value: Any, where: str) -> Topology:
    """Return the topology that one or several documents describe.

    Parameters
    ----------
    value
        A visualization, the answer of ``/metrics``, or an object of several documents with the
        keys `KINDS`, where ``topology`` is the answer of ``/topology/ID``, and `PAGES`.

    Raises
    ------
    FormatError
        If the value is none of these, or contains no streams.
    """
    found, pages = Topology(), {}
    if isinstance(value, dict) and isinstance(value.get(PAGES), dict) and len(value) > 1:
        pages, value = value[PAGES], {key: each for key, each in value.items() if key != PAGES}
    documents = dict(_documents(value, where))
    if set(documents) == {"topology"}:
        raise FormatError(f"{where}: contains no streams; add /metrics or /visualization")
    if "topology" in documents:
        _add_topology(found, *documents["topology"])
    if "visualization" in documents:
        _add_visualization(found, *documents["visualization"])
    if "metrics" in documents:
        _add_metrics(found, *documents["metrics"])
    for name, page in pages.items():
        if name in found.executors:
            _add_page(found, name, page, f"{where}: {PAGES}[{name!r:.40}]")
    for source, _, target in found.groupings:
        for end in (source, target):
            if end not in found.executors:
                raise FormatError(f"{where}: unknown component {end!r:.40}")
    return found


def _documents(value: Any, where: str) -> Iterator[tuple[str, tuple[Any, str]]]:
    """Yield (kind, (document, place)) of the documents in a value."""
    kind = _kind(value)
    if kind:
        yield kind, (value, where)
    elif isinstance(value, dict) and value and set(value) <= set(KINDS):
        for name, document in value.items():
            place = f"{where}: {name}"
            if _kind(document) != name:
                raise FormatError(f"{place}: not a Storm document of that kind")
            yield name, (document, place)
    else:
        raise FormatError(
            f"{where}: not a Storm document: expected an answer of /visualization or "
            f"/metrics, or an object with some of the keys {', '.join(KINDS)}"
        )


def _kind(value: Any) -> str | None:
    """Return the kind of a document, one of `KINDS`, by its content."""
    if not isinstance(value, dict):
        return None
    inside = [part for part in value.values() if isinstance(part, dict)]
    if any(":type" in part or ":inputs" in part for part in inside):
        return "visualization"
    lists = [value[key] for key in ("spouts", "bolts") if isinstance(value.get(key), list)]
    parts = [part for rows in lists for part in rows if isinstance(part, dict)]
    if any("spoutId" in part or "boltId" in part for part in parts):
        return "topology"
    return "metrics" if any("id" in part for part in parts) else None


def _add_topology(found: Topology, value: Any, where: str) -> None:
    form = check(_Topology, value, where)
    found.name, found.uptime_s = form.name, form.uptime_s
    parts: list[_Spout | _Bolt] = [*form.spouts, *form.bolts]
    for part in parts:
        if not is_internal(part.id):
            count = found.executors[part.id] = max(1, part.executors)
            if most := _most_executors(part.tasks, count, form.configuration or Settings()):
                found.most[part.id] = most
            found.requests[part.id] = requests_of_executor(
                part.on_heap, part.off_heap, part.generic or ""
            )
    found.bolts.update(bolt.id for bolt in form.bolts)
    found.notes = form.configuration.notes if form.configuration else []


def _most_executors(tasks: int, executors: int, topology: Settings) -> int | None:
    """Return the number of tasks of a component, which limits its executors; None if unknown.

    Where a component states no number of tasks, Storm gives it as many as executors
    (``ServerUtils.getComponentParallelism`` of Storm 2): no limit of the job, since they become
    more with the next submission.
    """
    own = tasks or topology.tasks if tasks > executors or topology.tasks else None
    most = min((count for count in (own, topology.most_tasks) if count), default=None)
    return most and max(most, executors)


def _add_visualization(found: Topology, value: Any, where: str) -> None:
    for name, component in value.items():
        if is_internal(name):
            continue
        visualized = check(_VisualizedComponent, component, f"{where}: {name!r:.40}")
        if visualized.type == "bolt":
            found.bolts.add(name)
        found.executors.setdefault(name, max(1, len(visualized.stats or ())))
        for each in visualized.inputs:
            if not is_internal(each.stream) and not is_internal(each.component):
                found.groupings[each.component, each.stream, name] = each.grouping


def _add_metrics(found: Topology, value: Any, where: str) -> None:
    form = check(_Metrics, value, where)
    found.window = _window(form.window, where)
    found.bolts.update(bolt.id for bolt in form.bolts)
    for part in (*form.spouts, *form.bolts):
        if is_internal(part.id):
            continue
        found.executors.setdefault(part.id, 1)
        if "emitted" in part.model_fields_set:
            found.counted.add(part.id)
        for sent in part.emitted:
            if not is_internal(sent.stream_id):
                found.emitted[part.id, sent.stream_id] = sent.value
        for rows, into in (
            (part.executed, found.executed),
            (part.executed_ms_avg, found.execute_ms),
        ):
            for row in rows:
                if not is_internal(row.stream_id) and not is_internal(row.component_id):
                    into[row.component_id, row.stream_id, part.id] = row.value
    for ends in found.executed:
        found.groupings.setdefault(ends, "")


def _add_page(found: Topology, name: str, value: Any, where: str) -> None:
    executors = sorted(check(_Page, value, where).executors, key=lambda each: each.first_task)
    if len(executors) == found.executors[name]:  # some may not have reported yet
        counts = (each.emitted if each.executed is None else each.executed for each in executors)
        found.tuples[name] = list(counts)
        found.hosts[name] = [each.host for each in executors]


def _window(window: str | int, where: str) -> float | None:
    if window == ":all-time":
        return None
    text = str(window)
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):  # noqa: PLR2004
        raise FormatError(f"{where}: window: must be seconds or ':all-time' (got {window!r:.40})")
    return float(text)
