"""Reader of ADL, the SPL compiler's description of IBM Streams applications.

A PE of Streams corresponds to a device, so that rules for partitions and for hosts are the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.engines.ibm.regions import (
    Enclosing,
    Regions,
    channels,
    distribution_between,
    regions_of,
    width_notes,
)
from streamplace.engines.ibm.spl import labels_note
from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import Link, build_logical_graph, check_links
from streamplace.formats.xml import attribute, inside, kind_of, parse_xml, root_pattern
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph

PARTITIONS, RESOURCES = "partitions", "resources"
COLOCATION, EXLOCATION = ("coLocation", "colocId"), ("exLocation", "exlocId")
"""Element and the attribute that identifies its group."""
MAX_PAIRS = 1_000_000
PRIMITIVE, COMPOSITE = "primitiveOperInstance", "compositeOperInstance"
OUTSIDE = ("primitiveImportOperInstance", "primitiveExportOperInstance")
"""Connections to other applications; they do not run as operators."""
KINDS = ("input", "output")


class PlacementConfig(NamedTuple):
    """The placement config of an application.

    Attributes
    ----------
    requires
        Operator -> labels that its device must have.
    notes
        What is not read, and what the labels are, a line each.
    """

    constraints: Constraints
    requires: dict[str, list[str]]
    notes: list[str]


def placement_config(
    root: Element, outside: Mapping[str, Element], inside_regions: Mapping[str, Element], where: str
) -> PlacementConfig:
    """Return the placement config of operators.

    Parameters
    ----------
    outside, inside_regions
        Name -> operator, outside all parallel regions and within. Of the latter, only tags are
        read, since other rules may hold for each channel.

    Raises
    ------
    FormatError
        If a rule is not valid. The message names `where` and the fault.
    """
    apart = _groups(outside, EXLOCATION, where)
    apart += _apart_from_all(outside, [*outside, *inside_regions], where)
    constraints = Constraints(colocate=_groups(outside, COLOCATION, where), exlocate=apart)
    tags = _tags_of_pools(root, where)
    requires = {
        name: tags.get(attribute(pool, "poolIndex", where), [])
        for name, operator in (*outside.items(), *inside_regions.items())
        for pool in inside(operator, RESOURCES, "poolLocation")
    }
    requires = {name: each for name, each in requires.items() if each}
    notes = labels_note([*requires])
    if unread := [name for name, operator in inside_regions.items() if _has_rules(operator)]:
        notes.append(
            f"{listed(unread)}: their colocation, exlocation, isolation and hosts are not read, "
            "since they may hold for each channel of a region; add constraints to the graph"
        )
    if pinned := [
        name for name, each in outside.items() if inside(each, RESOURCES, "hostLocation")
    ]:
        notes.append(
            f"{listed(pinned)}: the names of their hosts are not read; pin them to devices"
        )
    return PlacementConfig(constraints, requires, notes)


def _groups(operators: Mapping[str, Element], rule: tuple[str, str], where: str) -> list[list[str]]:
    """Return the operators of each colocation or exlocation with several members."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name, operator in operators.items():
        for what in (PARTITIONS, RESOURCES):
            for element in inside(operator, what, rule[0]):
                key = what, attribute(element, rule[1], where)
                groups.setdefault(key, {})[name] = None
    return [[*group] for group in groups.values() if len(group) > 1]


def _apart_from_all(
    operators: Mapping[str, Element], names: Sequence[str], where: str
) -> list[list[str]]:
    """Return the pairs of an operator that is alone in its PE and another one, of all names."""
    alone = [name for name, operator in operators.items() if _is_isolated(operator)]
    isolated = {*alone}
    others = [name for name in names if name not in isolated]
    if len(alone) * len(others) > MAX_PAIRS:
        raise FormatError(f"{where}: more than {MAX_PAIRS:,} pairs with isolated operators")
    pairs = [[one, other] for one in alone for other in others]
    return [alone, *pairs] if len(alone) > 1 else pairs


def _is_isolated(operator: Element) -> bool:
    elements = [*inside(operator, PARTITIONS), *inside(operator, RESOURCES)]
    return any(element.get("isolation") in ("true", "1") for element in elements)


def _has_rules(operator: Element) -> bool:
    several = (COLOCATION[0], EXLOCATION[0], "hostLocation")
    found = (inside(operator, what, rule) for what in (PARTITIONS, RESOURCES) for rule in several)
    return any(found) or _is_isolated(operator)


def _tags_of_pools(root: Element, where: str) -> dict[str, list[str]]:
    """Return index of a host pool -> the tags that its hosts have."""
    return {
        attribute(pool, "index", where): [
            attribute(tag, "name", where) for tag in inside(pool, "tag")
        ]
        for pool in root.iter()
        if kind_of(pool) == "hostpool"
    }


class _Port(NamedTuple):
    """A port: the operator's index, ``input`` or ``output``, and the port's number."""

    operator: str
    kind: str
    number: str


class _Instance(NamedTuple):
    """An operator of any kind, and its enclosing parallel regions."""

    element: Element
    enclosing: Enclosing


def read(text: str, where: str) -> LogicalGraph:
    """Read an application; its primitive operators become the operators, with their full names.

    Composite operators are flattened. Channels of parallel regions are instances; a region whose
    width is set at submission has one channel. The placement rules of operators outside all
    regions are constraints, and tags of hosts are labels of operators anywhere.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the operators do not form a stream graph.
    """
    root = parse_xml(text, where)
    applications = [e for e in root.iter() if kind_of(e) == "splApplication"]
    if len(applications) != 1:
        raise FormatError(f"{where}: expected one <splApplication> (got {len(applications)})")
    regions = regions_of(applications[0], where)
    try:
        instances = _instances(applications[0], regions.widths, where)
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None
    if unknown := [index for index in regions.widths if index not in instances]:
        raise FormatError(f"{where}: parallelRegion: no operator has the index {unknown[0]!r:.40}")
    names = {
        index: attribute(instance.element, "name", where)
        for index, instance in instances.items()
        if kind_of(instance.element) == PRIMITIVE
    }
    try:
        links = _links(instances, names, regions, where)
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None
    config = placement_config(
        root,
        {name: instances[i].element for i, name in names.items() if not instances[i].enclosing},
        {name: instances[i].element for i, name in names.items() if instances[i].enclosing},
        where,
    )
    logical = build_logical_graph(
        list(names.values()),
        links,
        name=attribute(applications[0], "name", where),
        parallelism={names[i]: channels(instances[i].enclosing, regions.widths) for i in names},
        requires=config.requires,
        constraints=config.constraints,
    )
    submitted = {
        attribute(instances[i].element, "name", where): width
        for i, width in regions.submitted.items()
    }
    elements = [instance.element for instance in instances.values()]
    notes = [*config.notes, *width_notes(submitted), *_outside(elements)]
    return replace(logical, notes=notes)


def _outside(elements: Sequence[Element]) -> list[str]:
    """Return a note on the connections to other applications, if there are any."""
    found = [each.get("name", "") for each in elements if kind_of(each) in OUTSIDE]
    if not found:
        return []
    return [
        f"{listed(found)} left out: Import and Export connect other applications, whose tuples "
        "are in no stream of the graph"
    ]


def _instances(application: Element, widths: Mapping[str, int], where: str) -> dict[str, _Instance]:
    """Return index -> operator of any kind and depth, in document order."""
    found: dict[str, _Instance] = {}
    waiting: list[tuple[Element, Enclosing]] = [(application, ())]
    while waiting:
        element, enclosing = waiting.pop()
        if kind_of(element) in (PRIMITIVE, COMPOSITE, *OUTSIDE):
            index = attribute(element, "index", where)
            if index in found:
                raise FormatError(f"{where}: two operators have the index {index!r:.40}")
            if widths.get(index, 1) > 1:
                enclosing = (*enclosing, index)
                channels(enclosing, widths)  # raises an error if there are too many
            found[index] = _Instance(element, enclosing)
        waiting += [(child, enclosing) for child in reversed(element)]
    return found


def _links(
    instances: Mapping[str, _Instance],
    names: Mapping[str, str],
    regions: Regions,
    where: str,
) -> list[Link]:
    """Return the streams between primitive operators."""
    targets: dict[_Port, list[_Port]] = {}
    for index, instance in instances.items():
        for port, ends in _connections(index, instance.element, where):
            targets.setdefault(port, []).extend(ends)
    ids = {
        _Port(index, "output", port.get("index", "")): port.get("name", "")
        for index, instance in instances.items()
        for port in inside(instance.element, "outputPorts", "port")
    }
    links = []
    for port in targets:
        if port.operator in names:
            for end, copies in _ports_fed_by(port, targets, instances, regions, where):
                source, target = instances[port.operator], instances[end.operator]
                distribution = distribution_between(
                    source.enclosing, target.enclosing, regions.widths, copies
                )
                pair = names[port.operator], names[end.operator]
                links.append(Link(*pair, distribution, id=ids.get(port, "")))
                check_links(len(links), where)
    return links


def _connections(index: str, instance: Element, where: str) -> Iterator[tuple[_Port, list[_Port]]]:
    """Yield (port, the ports that it feeds) for each port of an operator that has connections."""
    composite = kind_of(instance) == COMPOSITE
    for kind in KINDS if composite else ("output",):
        for port in inside(instance, f"{kind}Ports", "port"):
            path = "outgoingConnections" if composite else "connections"
            ends = [
                _Port(
                    *(
                        attribute(end, name, where)
                        for name in ("operIndex", "portKind", "portIndex")
                    )
                )
                for end in inside(port, path, "connection")
            ]
            yield _Port(index, kind, attribute(port, "index", where)), ends


def _ports_fed_by(
    start: _Port,
    targets: Mapping[_Port, list[_Port]],
    instances: Mapping[str, _Instance],
    regions: Regions,
    where: str,
) -> Iterator[tuple[_Port, int]]:
    """Yield (input port of a primitive operator, copies of each tuple) that a port feeds."""
    waiting, visited = [(start, 1)], {start}
    while waiting:
        port, before = waiting.pop()
        for end in targets[port]:
            if end.operator not in instances:
                raise FormatError(f"{where}: no operator has the index {end.operator!r:.40}")
            if end in visited:
                continue
            visited.add(end)
            copies = before * regions.copies(end.operator, end.number, end.kind)
            kind = kind_of(instances[end.operator].element)
            if kind == COMPOSITE:
                if end not in targets:
                    place = f"{end.kind:.10} port {end.number!r:.20}"
                    raise FormatError(f"{where}: operator {end.operator!r:.40} has no {place}")
                waiting.append((end, copies))
            elif end.kind != "input":
                fault = f"{end.operator!r:.40} is fed through a port that is not an input"
                raise FormatError(f"{where}: operator {fault}")
            elif kind == PRIMITIVE:
                yield end, copies


FORMAT = Format(
    "ibm-adl",
    about="IBM Streams: an application's ADL, XML",
    read=read,
    signs=Signs(endings=(".adl",), text=root_pattern("applicationSet")),
)
