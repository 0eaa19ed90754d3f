"""IBM Streams applications as the SPL compiler leaves them: ADL, with composites flattened."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.engines.job import Job
from streamplace.engines.links import Link, job_of
from streamplace.engines.xml_values import attribute, inside, kind_of, parse_xml
from streamplace.errors import FormatError

PRIMITIVE, COMPOSITE = "primitiveOperInstance", "compositeOperInstance"
OUTSIDE = ("primitiveImportOperInstance", "primitiveExportOperInstance")
"""Ends at other applications; they run nowhere."""
KINDS = ("input", "output")


class _Port(NamedTuple):
    """A port of an operator: the operator's index, ``input`` or ``output``, the port's number."""

    operator: str
    kind: str
    number: str


def read(text: str, where: str) -> Job:
    """Read an application; operators are its primitive ones, by their full names.

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    GraphError
        If the operators are no stream graph.
    """
    root = parse_xml(text, where)
    applications = [e for e in root.iter() if kind_of(e) == "splApplication"]
    if len(applications) != 1:
        raise FormatError(f"{where}: must hold one <splApplication>, not {len(applications)}")
    instances = _instances(applications[0], where)
    names = {
        index: attribute(instance, "name", where)
        for index, instance in instances.items()
        if kind_of(instance) == PRIMITIVE
    }
    targets: dict[_Port, list[_Port]] = {}
    for index, instance in instances.items():
        for port, ends in _connections(index, instance, where):
            targets.setdefault(port, []).extend(ends)
    links = [
        Link(names[port.operator], names[end.operator])
        for port in targets
        if port.operator in names
        for end in _reached(port, targets, instances, where)
    ]
    return job_of(list(names.values()), links, name=attribute(applications[0], "name", where))


def _instances(application: Element, where: str) -> dict[str, Element]:
    """Return index -> operator, of any kind and depth."""
    found: dict[str, Element] = {}
    for element in application.iter():
        if kind_of(element) in (PRIMITIVE, COMPOSITE, *OUTSIDE):
            index = attribute(element, "index", where)
            if index in found:
                raise FormatError(f"{where}: two operators have the index {index!r:.40}")
            found[index] = element
    return found


def _connections(index: str, instance: Element, where: str) -> Iterator[tuple[_Port, list[_Port]]]:
    """Yield (port, where its tuples go) of an operator."""
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


def _reached(
    start: _Port, targets: dict[_Port, list[_Port]], instances: dict[str, Element], where: str
) -> Iterator[_Port]:
    """Yield the input ports of primitive operators that a port feeds, through composites."""
    waiting, seen = [start], {start}
    while waiting:
        for end in targets[waiting.pop()]:
            if end.operator not in instances:
                raise FormatError(f"{where}: no operator has the index {end.operator!r:.40}")
            if end in seen:
                continue
            seen.add(end)
            kind = kind_of(instances[end.operator])
            if kind == COMPOSITE:
                if end not in targets:
                    place = f"{end.kind:.10} port {end.number!r:.20}"
                    raise FormatError(f"{where}: operator {end.operator!r:.40} has no {place}")
                waiting.append(end)
            elif end.kind != "input":
                fault = f"{end.operator!r:.40}: is fed through a port that is no input"
                raise FormatError(f"{where}: operator {fault}")
            elif kind == PRIMITIVE:
                yield end
