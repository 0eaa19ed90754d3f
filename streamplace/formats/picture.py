"""What programs write for pictures of graphs: labels as names, and what is only drawn.

Many programs number the nodes and write names as labels; SimGrid writes costs as sizes. GStreamer
writes elements as clusters, and their pads as nodes.
"""

import html
import re
from collections.abc import Mapping

from streamplace.formats.attributes import AttributedGraph, Attributes
from streamplace.formats.logical_builder import check_links
from streamplace.problem.graph_checks import listed
from streamplace.util.text import DECIMAL, counted, numbered

NODE = ("label", "shape", "style", "size")
EDGE = ("label", "style", "size")
"""Attributes that pictures have."""
GENERATED = re.compile(
    r"(?:n[0-9]+::)*(?P<prefix>[A-Za-z_]*?)[-_.: ]?"
    r"(?:-?[0-9]+|0x[0-9a-f]+|(?=[a-z-]*[0-9])[0-9a-f]{8,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    re.IGNORECASE,
)
"""Ids that programs make: numbers, addresses and hashes behind a prefix, in groups of yEd."""
ENDS = ("root", "end")
"""The nodes without work that SimGrid adds."""
LEGEND, PADS = "legend", "Element-States"
"""The name of an explanation, and what that of GStreamer explains."""
_MARKED = re.compile(r"\[\w+\] ")  # as Terraform marks ids by the module
_TAG = re.compile(r"<(/?)([A-Za-z]*)[^>]*>")
_BREAKS = frozenset({"br", "td", "tr", "table"})
_LINE = re.compile(r"\\[nlr]|\n")
_ESCAPE = re.compile(r"\\(.)")
_FIELD = re.compile(r"(?<!\\)\|")
_PORT = re.compile(r"^\s*<[^>]*>")


def text_of_html(label: str) -> str:
    """Return the lines of a label between angle brackets."""
    parts = _TAG.sub(lambda tag: "\n" if tag[2].lower() in _BREAKS else "", label)
    return "\n".join(line for line in html.unescape(parts).splitlines() if line.strip())


def first_line(attributes: Mapping[str, str]) -> str:
    """Return the first line of a node's label, of a record its first field; empty if it has none.

    ``\\N`` stands for the id of the node.
    """
    label = attributes.get("label", "")
    if label.strip() == r"\N":
        return ""
    if "record" in attributes.get("shape", "").lower():
        fields = [_PORT.sub("", field.strip(" {}")).strip() for field in _FIELD.split(label)]
        label = next((field for field in fields if field), "")
    lines = [_ESCAPE.sub(r"\1", line).strip() for line in _LINE.split(label)]
    return next((line for line in lines if line), "")


def understood(attributed: AttributedGraph, where: str) -> list[str]:
    """Take names and costs from the attributes of a picture, in place; return notes about them.

    Raises
    ------
    FormatError
        If there are more than a million streams.
    """
    for _, _, attributes in attributed.edges:
        attributes["label"] = first_line(attributes)
    is_pipeline = any(PADS in each.get("label", "") for each in attributed.nodes.values())
    notes = _without_decoration(attributed)
    notes += _with_elements(attributed, where) if is_pipeline else _without_layout(attributed)
    notes += _with_sizes(attributed)
    return notes + _with_names(attributed)


def _is_invisible(attributes: Attributes) -> bool:
    return "invis" in attributes.get("style", "")


def _without_decoration(attributed: AttributedGraph) -> list[str]:
    """Leave out nodes without edges that are a legend, or that the picture does not show."""
    linked = {end for source, target, _ in attributed.edges for end in (source, target)}
    found = [
        node
        for node, attributes in attributed.nodes.items()
        if linked and node not in linked and "instructions" not in attributes
        if _is_invisible(attributes) or LEGEND in (node.lower(), first_line(attributes).lower())
    ]
    for node in found:
        del attributed.nodes[node]
    return (
        [f"{listed(found)} left out: no edge leads there, and it is no operator"] if found else []
    )


def _without_layout(attributed: AttributedGraph) -> list[str]:
    """Leave out invisible edges, which arrange the picture; say that clusters are not read."""
    visible = [edge for edge in attributed.edges if not _is_invisible(edge[2])]
    notes = []
    if hidden := len(attributed.edges) - len(visible):
        notes.append(
            f"{counted(hidden, 'invisible edge')} left out: such edges only arrange the picture"
        )
    attributed.edges[:] = visible
    if labels := [label for label in attributed.labels.values() if label]:
        notes.append(f"groups of the picture are not read: {listed(labels)}")
    return notes


def _with_elements(attributed: AttributedGraph, where: str) -> list[str]:
    """Replace the pads of each element of GStreamer by one node; pads of bins pass data on.

    An element is a cluster whose label has its type and its name. A bin has elements inside.
    """
    paths = {
        node: [each for each in attributed.clusters.get(node, ()) if attributed.labels.get(each)]
        for node in attributed.nodes
    }
    bins = {cluster for path in paths.values() for cluster in path[:-1]}
    owner = {node: path[-1] if path else node for node, path in paths.items()}
    following: dict[str, list[str]] = {}
    for source, target, attributes in attributed.edges:
        if not _is_invisible(attributes):  # the others join the pads of an element
            following.setdefault(source, []).append(target)
    edges: list[tuple[str, str, Attributes]] = []
    for pad, element in owner.items():
        waiting, visited = [*following.get(pad, ())] if element not in bins else [], {pad}
        while waiting:
            target = waiting.pop()
            if target in visited:
                continue
            visited.add(target)
            if owner[target] in bins:
                waiting += following.get(target, ())
            elif owner[target] != element:
                edges.append((element, owner[target], {}))
                check_links(len(edges), where)
    elements = [each for each in dict.fromkeys(owner.values()) if each not in bins]
    lines = [[*_LINE.split(attributed.labels.get(each, "")), "", ""] for each in elements]
    names = numbered([line[1] or each for line, each in zip(lines, elements, strict=True)])
    attributed.nodes = {
        each: {"name": name} | ({"type": line[0]} if line[0] else {})
        for each, name, line in zip(elements, names, lines, strict=True)
    }
    attributed.edges = edges
    passing = f"; the pads of {counted(len(bins), 'bin')} pass data on" if bins else ""
    return [f"operators are the elements of the pipeline, and streams join their pads{passing}"]


def _with_sizes(attributed: AttributedGraph) -> list[str]:
    """Take the sizes of nodes and edges as costs, if all are numbers and there are no others."""
    nodes, edges = attributed.nodes, [attributes for _, _, attributes in attributed.edges]
    sizes = [each["size"] for each in (*nodes.values(), *edges) if "size" in each]
    stated = any(
        "instructions" in each or "payload_bytes" in each for each in (*nodes.values(), *edges)
    )
    if not sizes:
        return []
    if stated or not all(DECIMAL.fullmatch(size.strip()) for size in sizes):
        return ["the attribute size of nodes and edges is not read"]
    sent = dict.fromkeys(nodes, 0.0)
    for source, _, attributes in attributed.edges:
        attributes.setdefault("selectivity", "1")
        if "size" in attributes:
            size = max(0.0, float(attributes["size"]))
            attributes["payload_bytes"] = repr(size)
            sent[source] = max(sent[source], size)
    for node, attributes in nodes.items():
        if "size" in attributes or node in ENDS:
            attributes["instructions"] = repr(max(0.0, float(attributes.get("size", 0))))
        attributes["payload_bytes"] = repr(sent[node])
    attributed.attributes.setdefault("firing", "all")
    return [
        "size is the operations of a node and the bytes of an edge, as SimGrid and daggen write it "
        "(none if it is below 0), and every node runs once in a pass"
    ]


def _with_names(attributed: AttributedGraph) -> list[str]:
    """Name the nodes by what the picture shows, if their ids say nothing."""
    own = [attributes.get("name", "") for attributes in attributed.nodes.values()]
    if all(own) and len({*own}) == len(own):
        return []
    shown = {
        node: attributes.get("name") or first_line(attributes)
        for node, attributes in attributed.nodes.items()
    }
    shown = {node: text for node, text in shown.items() if text and text != node}
    if not shown:
        return []
    if not _are_generated(shown):
        return [
            f"labels such as {next(iter(shown.values()))!r:.40} are not read, since the ids of the "
            "nodes are names"
        ]
    texts = [shown.get(node, node) for node in attributed.nodes]
    names = numbered(texts)
    for attributes, name in zip(attributed.nodes.values(), names, strict=True):
        attributes["name"] = name
    repeated = [text for text, name in zip(texts, names, strict=True) if text != name]
    if not repeated:
        return []
    first = f"{repeated[0]:.40}"
    return [
        f"labels repeat, so operators are named {first!r}, {f'{first}#2'!r}, … (the first line)"
    ]


def _are_generated(shown: Mapping[str, str]) -> bool:
    """Return whether ids differ in numbers only, or hold the label within words of a program."""
    matches = [GENERATED.fullmatch(node) for node in shown]
    if all(matches):
        return len({match["prefix"].lower() for match in matches if match}) == 1
    return all(_MARKED.match(node) and text in node for node, text in shown.items())
