"""Reader and writer of GraphML, the format of networkx, Gephi, yEd and igraph."""

import re
from collections.abc import Callable
from functools import partial
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from streamplace.errors import FormatError, GraphError
from streamplace.formats import picture
from streamplace.formats.attributes import (
    EDGE,
    GRAPH,
    NODE,
    TEXTS,
    AttributedGraph,
    Attributes,
    from_attributed_graph,
    to_attributed_graph,
)
from streamplace.formats.format import Format, Signs
from streamplace.formats.xml import attribute, inside, kind_of, parse_xml, root_pattern
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
KNOWN = {"graph": GRAPH, "node": NODE, "edge": EDGE}
READ = KNOWN | {"node": (*NODE, "label"), "edge": (*EDGE, "label")}
"""What is read; Gephi calls a name ``label``, and ``size`` is that of its picture."""
LABELS = ("NodeLabel", "EdgeLabel")
"""Elements of yEd in graphics that show names, since yEd numbers the ids."""
Known = Callable[[Element, str], Attributes]
"""Returns the known attributes of a graph, node or edge; the second argument is its kind."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(text: str, where: str) -> LogicalGraph:
    """Read a directed graph; ids are operators' names, or names and labels where ids are numbers.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a stream graph.
    """
    root = parse_xml(text, where)
    graphs = inside(root, "graph")
    if kind_of(root) != "graphml" or len(graphs) != 1:
        raise FormatError(f"{where}: must be a <graphml> that contains one <graph>")
    keys, defaults = _keys(root, where)
    known: Known = partial(_attributes, keys=keys, defaults=defaults, where=where)
    attributed = AttributedGraph(attributes=known(graphs[0], "graph"))
    for graph in (each for each in graphs[0].iter() if kind_of(each) == "graph"):
        _add_nodes(attributed, graph, known, where)
        _add_edges(attributed, graph, known, where)
    notes = picture.understood(attributed, where)
    return from_attributed_graph(attributed, where, notes)


def _add_nodes(attributed: AttributedGraph, graph: Element, known: Known, where: str) -> None:
    """Add the nodes of a graph; one with a graph inside is a group, as a cluster of DOT."""
    for node in inside(graph, "node"):
        name = attribute(node, "id", where)
        if name in attributed.nodes or name in attributed.labels:
            raise FormatError(f"{where}: node {name!r:.40} appears twice")
        found = {"label": _label(node)} | known(node, "node")
        if inside(node, "graph"):
            attributed.labels[name] = picture.first_line(found) or name
        else:
            attributed.nodes[name] = found


def _add_edges(attributed: AttributedGraph, graph: Element, known: Known, where: str) -> None:
    """Add the edges of a graph."""
    if inside(graph, "hyperedge"):
        raise FormatError(f"{where}: hyperedges are not supported")
    directed = graph.get("edgedefault") == "directed"
    for edge in inside(graph, "edge"):
        source, target = attribute(edge, "source", where), attribute(edge, "target", where)
        if edge.get("directed", "true" if directed else "false") != "true":
            place = f"{where}: {source!r:.40} -> {target!r:.40}"
            raise FormatError(f"{place}: the edge is undirected; all edges must be directed")
        found = {"label": _label(edge)} | known(edge, "edge")
        attributed.edges.append((source, target, found))


def _label(element: Element) -> str:
    """Return what yEd writes on a node or edge; empty if it writes nothing, as other programs."""
    drawn = (each for data in inside(element, "data") for each in data.iter())
    labels = (each.text or "" for each in drawn if kind_of(each) in LABELS)
    return next((label.strip() for label in labels), "")


def _keys(root: Element, where: str) -> tuple[dict[str, str], dict[str, Attributes]]:
    """Return key -> attribute, and the defaults of graphs, nodes and edges."""
    keys: dict[str, str] = {}
    defaults: dict[str, Attributes] = {kind: {} for kind in KNOWN}
    for key in inside(root, "key"):
        name = key.get("attr.name", "")
        name = "label" if name == "Label" else name
        keys[attribute(key, "id", where)] = name
        for default in inside(key, "default"):
            meant = key.get("for", "all")
            for kind in KNOWN if meant == "all" else (meant,):
                if name in READ.get(kind, ()):
                    defaults[kind][name] = default.text or ""
    return keys, defaults


def _attributes(
    element: Element,
    kind: str,
    keys: dict[str, str],
    defaults: dict[str, Attributes],
    where: str,
) -> Attributes:
    """Return the known attributes of a graph, node or edge."""
    found: Attributes = {}
    for data in inside(element, "data"):
        key = attribute(data, "key", where)
        if key not in keys:
            raise FormatError(f"{where}: <data>: unknown key {key!r:.40}")
        name = keys[key]
        if name in READ[kind]:
            if name in found:
                raise FormatError(f"{where}: {kind}: attribute {name!r} appears twice")
            found[name] = data.text or ""
    return defaults[kind] | found


def write(placement: Placement) -> str:
    """Return a placement's graph as GraphML; every operator has its ``device``.

    Raises
    ------
    GraphError
        If a name contains a character that XML cannot represent.
    """
    return to_text(to_attributed_graph(placement.problem.graph, placement.assignment))


def to_text(attributed: AttributedGraph) -> str:
    """Return a graph with attributes as GraphML."""
    root = Element("graphml", {"xmlns": NAMESPACE})
    used = {
        "graph": {*attributed.attributes},
        "node": {name for attributes in attributed.nodes.values() for name in attributes},
        "edge": {name for _, _, attributes in attributed.edges for name in attributes},
    }
    for kind, names in KNOWN.items():
        for name in names:
            if name in used[kind]:
                key = {"id": f"{kind}_{name}", "for": kind, "attr.name": name}
                key["attr.type"] = "string" if name in TEXTS else "double"
                SubElement(root, "key", key)
    graph = SubElement(root, "graph", {"edgedefault": "directed"})
    _add_data(graph, "graph", attributed.attributes)
    for name, attributes in attributed.nodes.items():
        _add_data(SubElement(graph, "node", {"id": name}), "node", attributes)
    for source, target, attributes in attributed.edges:
        edge = SubElement(graph, "edge", {"source": source, "target": target})
        _add_data(edge, "edge", attributes)
    indent(root)
    text = tostring(root, encoding="unicode").replace("\r", "&#13;")
    if wrong := _NOT_IN_XML.search(text):
        raise GraphError(f"a name contains {wrong.group()!r}, which XML cannot represent")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_data(element: Element, kind: str, attributes: Attributes) -> None:
    for name, value in attributes.items():
        SubElement(element, "data", {"key": f"{kind}_{name}"}).text = value


FORMAT = Format(
    "graphml",
    about="a graph of networkx, Gephi or yEd; export adds the device of each operator",
    read=read,
    write=write,
    signs=Signs(endings=(".graphml",), text=root_pattern("graphml")),
)
