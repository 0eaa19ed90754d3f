"""Graphs and placements as GraphML, which networkx, Gephi, yEd and igraph read and write."""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from streamplace.errors import FormatError, GraphError
from streamplace.integrations.formats.attributes import (
    EDGE,
    GRAPH,
    NODE,
    TEXTS,
    Attributes,
    Drawing,
    drawing_of,
    graph_of,
)
from streamplace.integrations.parsing.xml import attribute, inside, kind_of, parse_xml
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
OURS = {"graph": GRAPH, "node": NODE, "edge": EDGE}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(text: str, where: str) -> LogicalGraph:
    """Read a directed graph; operators are called by their nodes' ids.

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    GraphError
        If it is no stream graph.
    """
    root = parse_xml(text, where)
    graphs = inside(root, "graph")
    if kind_of(root) != "graphml" or len(graphs) != 1:
        raise FormatError(f"{where}: must be <graphml> with one <graph> in it")
    keys, defaults = _keys(root, where)
    drawing = Drawing(attributes=_attributes(graphs[0], "graph", keys, defaults, where))
    for node in inside(graphs[0], "node"):
        name = attribute(node, "id", where)
        if name in drawing.nodes:
            raise FormatError(f"{where}: node {name!r:.40} stands twice")
        if inside(node, "graph"):
            raise FormatError(f"{where}: node {name!r:.40}: graphs in nodes are not read")
        drawing.nodes[name] = _attributes(node, "node", keys, defaults, where)
    if inside(graphs[0], "hyperedge"):
        raise FormatError(f"{where}: hyperedges are not read")
    directed = graphs[0].get("edgedefault") == "directed"
    for edge in inside(graphs[0], "edge"):
        source, target = attribute(edge, "source", where), attribute(edge, "target", where)
        if edge.get("directed", "true" if directed else "false") != "true":
            place = f"{where}: {source!r:.40} -> {target!r:.40}"
            raise FormatError(f"{place}: is undirected, and streams have a direction")
        told = _attributes(edge, "edge", keys, defaults, where)
        drawing.edges.append((source, target, told))
    return LogicalGraph(graph_of(drawing, where))


def _keys(root: Element, where: str) -> tuple[dict[str, str], dict[str, Attributes]]:
    """Return key -> attribute, and the defaults by what they are for."""
    keys: dict[str, str] = {}
    defaults: dict[str, Attributes] = {kind: {} for kind in OURS}
    for key in inside(root, "key"):
        name = keys[attribute(key, "id", where)] = key.get("attr.name", "")
        for default in inside(key, "default"):
            meant = key.get("for", "all")
            for kind in OURS if meant == "all" else (meant,):
                if name in OURS.get(kind, ()):
                    defaults[kind][name] = default.text or ""
    return keys, defaults


def _attributes(
    element: Element,
    kind: str,
    keys: dict[str, str],
    defaults: dict[str, Attributes],
    where: str,
) -> Attributes:
    """Return those attributes of a graph, node or edge that are ours."""
    told: Attributes = {}
    for data in inside(element, "data"):
        key = attribute(data, "key", where)
        if key not in keys:
            raise FormatError(f"{where}: <data>: there is no key {key!r:.40}")
        name = keys[key]
        if name in OURS[kind]:
            if name in told:
                raise FormatError(f"{where}: a {kind} has {name!r} twice")
            told[name] = data.text or ""
    return defaults[kind] | told


def write(placement: Placement) -> str:
    """Return a placement's graph, every operator with its ``device``.

    Raises
    ------
    GraphError
        If a name holds a character that XML cannot carry.
    """
    return _written(drawing_of(placement.problem.graph, placement.assignment))


def graph_text(graph: StreamGraph) -> str:
    """Return a graph.

    Raises
    ------
    GraphError
        If a name holds a character that XML cannot carry.
    """
    return _written(drawing_of(graph))


def _written(drawing: Drawing) -> str:
    root = Element("graphml", {"xmlns": NAMESPACE})
    used = {
        "graph": {*drawing.attributes},
        "node": {name for told in drawing.nodes.values() for name in told},
        "edge": {name for _, _, told in drawing.edges for name in told},
    }
    for kind, names in OURS.items():
        for name in names:
            if name in used[kind]:
                told = {"id": f"{kind}_{name}", "for": kind, "attr.name": name}
                told["attr.type"] = "string" if name in TEXTS else "double"
                SubElement(root, "key", told)
    graph = SubElement(root, "graph", {"edgedefault": "directed"})
    _add_data(graph, "graph", drawing.attributes)
    for name, told in drawing.nodes.items():
        _add_data(SubElement(graph, "node", {"id": name}), "node", told)
    for source, target, told in drawing.edges:
        edge = SubElement(graph, "edge", {"source": source, "target": target})
        _add_data(edge, "edge", told)
    indent(root)
    text = tostring(root, encoding="unicode").replace("\r", "&#13;")
    if wrong := _NOT_IN_XML.search(text):
        raise GraphError(f"a name holds {wrong.group()!r}, which XML cannot carry")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_data(element: Element, kind: str, attributes: Attributes) -> None:
    for name, value in attributes.items():
        SubElement(element, "data", {"key": f"{kind}_{name}"}).text = value
