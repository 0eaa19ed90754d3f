"""Reader of abstract workflows in DAX, the XML of Pegasus before version 5."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import MIPS, equal_devices
from streamplace.formats.xml import attribute, inside, kind_of, parse_xml, root_pattern
from streamplace.networks.wfformat.runs import ANY_KIND, ASSUMED_LINKS, NETWORK, graph_of
from streamplace.networks.wfformat.versions import Task, Workflow, find, unique
from streamplace.problem.cluster import Device
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import DECIMAL

TASKS = ("job", "dag", "dax")
"""Elements that run as a task: programs, and workflows within the workflow."""
READ, WRITTEN = 0, 1
LINKS = {"input": (READ,), "output": (WRITTEN,), "inout": (READ, WRITTEN)}
"""Value of ``link`` -> what a task does with the file; other values mean that it is no data."""


def read(text: str, where: str) -> LogicalGraph:
    """Read a workflow, with equal machines on which its run times count.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a graph without cycles, or a number is out of range.
    """
    root = parse_xml(text, where, "adag")
    cluster = equal_devices(Device("d", MIPS, kind=ANY_KIND), NETWORK)
    found = graph_of(_workflow(root, where))
    return replace(found, cluster=cluster, notes=[*found.notes, ASSUMED_LINKS])


def _workflow(root: Element, where: str) -> Workflow:
    elements = [each for each in root if kind_of(each) in TASKS]
    if not elements:
        raise FormatError(f"{where}: must have at least one <job>")
    ids = [attribute(each, "id", where) for each in elements]
    index = unique(ids, f"{where}: <job>", "id")
    relatives: list[set[tuple[int, int]]] = [set() for _ in elements]
    for child in inside(root, "child"):
        name = attribute(child, "ref", where)
        v, place = find(name, index, f"{where}: <child>", "job"), f"{where}: <child> {name!r:.40}"
        for parent in inside(child, "parent"):
            u = find(attribute(parent, "ref", place), index, place, "job")
            relatives[v].add((u, v))
    sizes: dict[str, float | None] = {}
    for file in inside(root, "file"):
        sizes[attribute(file, "name", where)] = _size(file, where)
    tasks = []
    for i, element in enumerate(elements):
        place = f"{where}: job {ids[i]!r:.40}"
        files: tuple[dict[str, None], dict[str, None]] = ({}, {})
        for uses in inside(element, "uses"):
            name = uses.get("file") or attribute(uses, "name", place)
            for linked in LINKS.get(uses.get("link", ""), ()):
                files[linked][name] = None
                sizes[name] = _larger(_size(uses, place), sizes.get(name))
        program = element.get("name", "")
        tasks.append(
            Task(
                f"{program}_{ids[i]}" if program else ids[i],
                frozenset(relatives[i]),
                tuple(files[READ]),
                tuple(files[WRITTEN]),
                seconds=_seconds(element, place),
                program=program,
            )
        )
    return Workflow(root.get("name", ""), tasks, sizes, (), None)


def _seconds(job: Element, place: str) -> float | None:
    """Return the run time of a task, which is an attribute or a profile; None: not stated."""
    return _first_number(
        [job.get("runtime"), *_texts_of(job, "profile", "runtime")], "runtime", place
    )


def _size(file: Element, place: str) -> float | None:
    """Return the size of a file, which is an attribute or metadata; None: not stated."""
    return _first_number([file.get("size"), *_texts_of(file, "metadata", "size")], "size", place)


def _texts_of(element: Element, kind: str, key: str) -> Iterator[str | None]:
    return (each.text for each in inside(element, kind) if each.get("key") == key)


def _first_number(texts: Iterable[str | None], name: str, place: str) -> float | None:
    text = next((text.strip() for text in texts if text), None)
    if text is None:
        return None
    number = float(text) if DECIMAL.fullmatch(text) else -1.0
    if not 0 <= number < float("inf"):
        raise FormatError(
            f"{place}: {name}: must be a finite number of at least 0 (got {text!r:.40})"
        )
    return number


def _larger(one: float | None, other: float | None) -> float | None:
    """Return the larger of two sizes of a file; where one is not stated, the other."""
    return max((each for each in (one, other) if each is not None), default=None)


FORMAT = Format(
    "dax",
    about="Pegasus: an abstract workflow, DAX (XML), with a cluster of any size",
    read=read,
    signs=Signs(endings=(".dax",), text=root_pattern("adag")),
    has_cluster=True,
    states_count=False,
)
