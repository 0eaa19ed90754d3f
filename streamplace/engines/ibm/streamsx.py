"""Reader of IBM Streams applications in the JSON format of the Python package streamsx."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from streamplace.engines.ibm.markers import (
    END_PARALLEL,
    PARALLEL,
    is_marker,
    isolated_pairs,
    low_latency_groups,
    with_hashes_inside,
)
from streamplace.engines.ibm.regions import (
    Enclosing,
    channels,
    distribution_between,
    regions,
    width_notes,
)
from streamplace.engines.ibm.spl import labels_note
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import (
    MAX_PARALLELISM,
    Link,
    Parallelism,
    build_logical_graph,
    check_links,
)
from streamplace.problem.constraints import Constraints
from streamplace.problem.logical import LogicalGraph
from streamplace.util.groups import connected_groups

Width = Parallelism | dict[str, Any] | None
"""Number of channels of a parallel region; an object if it is set at submission."""


def _default(width: Mapping[str, Any]) -> int | None:
    """Return the default of a submission parameter that is a width; None if it has none."""
    value = width.get("value")
    default = value.get("defaultValue") if isinstance(value, dict) else None
    return default if type(default) is int and 1 <= default <= MAX_PARALLELISM else None


class _Port(ForeignForm):
    name: Name
    connections: list[Name] = Field([])
    width: Width = None
    routing: str | None = None


class _PlacementConfig(ForeignForm):
    tags: list[Name] = Field([], alias="colocateTags")
    resource_tags: list[str] = Field([], alias="resourceTags")


class _Config(ForeignForm):
    placement: _PlacementConfig = _PlacementConfig()
    width: Width = None


class _Operator(ForeignForm):
    name: Name
    kind: Title = ""
    inputs: list[_Port] = Field([])
    outputs: list[_Port] = Field([])
    config: _Config = _Config()
    adds_hash: bool = Field(False, alias="hashAdder")

    @property
    def is_marker(self) -> bool:
        """Whether it only marks a region or joins streams, and does not run ($Union$, …)."""
        return is_marker(self.kind)

    @property
    def begins_region(self) -> bool:
        """Whether a parallel region begins here."""
        return self.kind == PARALLEL or any(self._widths)

    @property
    def width(self) -> int | None:
        """Channels of the region that begins here; None if they have to be set at submission."""
        stated = (_default(w) if isinstance(w, dict) else w for w in self._widths)
        return next(filter(None, stated), None)

    @property
    def is_submitted(self) -> bool:
        """Whether the width of the region that begins here is set at submission."""
        return self.begins_region and not any(isinstance(width, int) for width in self._widths)

    @property
    def _widths(self) -> list[Width]:
        return [self.config.width, *(port.width for port in self.outputs)]


class _Graph(ForeignForm):
    name: Title = ""
    operators: list[_Operator] = Field(min_length=1)


def read(text: str, where: str) -> LogicalGraph:
    """Read a graph; operators that share a colocation tag or low latency stay together.

    Channels of a parallel region are instances. Inside the region they are connected one to one,
    and each channel has its own splitter into a region that begins after it. If all operators of a
    colocation are in one region, they stay together channel by channel. Operators with an isolation
    between them are on different devices, and resource tags are labels of devices.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the operators do not form a stream graph.
    """
    form = check(_Graph, parse(text, where), where)
    ports = _ports(form.operators, where)
    operators = [operator for operator in form.operators if not operator.is_marker]
    widths = {o.name: o.width or 1 for o in form.operators if o.begins_region}
    feeds, kinds = with_hashes_inside(
        _feeds(form.operators, ports),
        {o.name: o.kind for o in form.operators},
        [o.name for o in operators if o.adds_hash],
    )
    try:
        ends = frozenset(name for name, kind in kinds.items() if kind == END_PARALLEL)
        enclosing = regions(feeds, widths, ends)
        counts = {o.name: channels(enclosing.get(o.name, ()), widths) for o in operators}
        links = _links(ports, enclosing, widths, where)
        together = connected_groups([*_groups_by_tag(operators), *low_latency_groups(feeds, kinds)])
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None
    tags = {
        o.name: tuple(dict.fromkeys(filter(None, o.config.placement.resource_tags)))
        for o in operators
    }
    logical = build_logical_graph(
        [operator.name for operator in operators],
        links,
        name=form.name,
        parallelism=counts,
        requires=tags,
        constraints=Constraints(colocate=together, exlocate=isolated_pairs(feeds, kinds)),
        by_channel=[
            group for group in together if len({enclosing.get(name, ()) for name in group}) == 1
        ],
    )
    submitted = {o.name: o.width for o in form.operators if o.is_submitted}
    notes = [*labels_note([name for name in tags if tags[name]]), *width_notes(submitted)]
    return replace(logical, notes=notes)


@dataclass
class _Ports:
    """The ports of an application and their connections.

    Attributes
    ----------
    senders, receivers
        Output and input port -> its operator.
    feeds
        Output port -> input ports.
    """

    senders: dict[str, _Operator]
    receivers: dict[str, _Operator]
    feeds: dict[str, list[str]]


def _ports(operators: list[_Operator], where: str) -> _Ports:
    """Return the ports; a connection may be listed at either end."""
    senders = _by_port(((port, o) for o in operators for port in o.outputs), "output", where)
    receivers = _by_port(((port, o) for o in operators for port in o.inputs), "input", where)
    joined: dict[tuple[str, str], None] = {}
    for operator in operators:
        for port in operator.outputs:
            joined.update(
                ((port.name, _known(end, receivers, where)), None) for end in port.connections
            )
        for port in operator.inputs:
            joined.update(
                ((_known(end, senders, where), port.name), None) for end in port.connections
            )
    feeds: dict[str, list[str]] = {name: [] for name in senders}
    for output, input_port in joined:
        feeds[output].append(input_port)
    return _Ports(senders, receivers, feeds)


def _feeds(operators: list[_Operator], ports: _Ports) -> dict[str, list[str]]:
    """Return operator or marker -> the operators and markers that it feeds."""
    feeds: dict[str, list[str]] = {operator.name: [] for operator in operators}
    for output, targets in ports.feeds.items():
        feeds[ports.senders[output].name] += [
            ports.receivers[input_port].name for input_port in targets
        ]
    return feeds


def _links(
    ports: _Ports, enclosing: dict[str, Enclosing], widths: dict[str, int], where: str
) -> list[Link]:
    """Return the streams between operators, through markers."""
    links = []
    for output, operator in ports.senders.items():
        if not operator.is_marker:
            here = enclosing.get(operator.name, ())
            for target, copies in _ports_fed_by(output, ports):
                distribution = distribution_between(here, enclosing.get(target, ()), widths, copies)
                links.append(Link(operator.name, target, distribution, id=output))
                check_links(len(links), where)
    return links


def _by_port(
    ports: Iterable[tuple[_Port, _Operator]], kind: str, where: str
) -> dict[str, _Operator]:
    found: dict[str, _Operator] = {}
    for port, operator in ports:
        if port.name in found:
            raise FormatError(f"{where}: two {kind} ports have the name {port.name!r:.40}")
        found[port.name] = operator
    return found


def _known(port: str, ports: dict[str, _Operator], where: str) -> str:
    if port not in ports:
        raise FormatError(f"{where}: unknown port {port!r:.40}")
    return port


def _ports_fed_by(output: str, ports: _Ports) -> Iterator[tuple[str, int]]:
    """Yield (operator, channels that receive each tuple) for each input port that a port feeds."""
    waiting, visited = [(output, 1)], {output}
    visited_inputs: set[str] = set()
    while waiting:
        port, copies = waiting.pop()
        for input_port in ports.feeds[port]:
            if input_port in visited_inputs:
                continue
            visited_inputs.add(input_port)
            operator = ports.receivers[input_port]
            if not operator.is_marker:
                yield operator.name, copies
                continue
            through = [out for out in operator.outputs if out.name not in visited]
            visited.update(out.name for out in through)
            for out in through:
                width = out.width if isinstance(out.width, int) else 1
                copied = out.routing == "BROADCAST"
                waiting.append((out.name, copies * width if copied else copies))


def _groups_by_tag(operators: list[_Operator]) -> list[list[str]]:
    """Return the operators of each colocation tag."""
    groups: dict[str, dict[str, None]] = {}
    for operator in operators:
        for tag in operator.config.placement.tags:
            groups.setdefault(tag, {})[operator.name] = None
    return [[*group] for group in groups.values()]


FORMAT = Format(
    "ibm-streamsx",
    about="IBM Streams: the graph that the Python package streamsx writes, JSON",
    read=read,
    signs=Signs(fields=(frozenset({"operators[].outputs"}),)),
)
