"""Reader of GEXF, the format of Gephi, by that of networkx."""

from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element, tostring

from streamplace.errors import FormatError
from streamplace.formats import picture
from streamplace.formats.attributes import AttributedGraph, Attributes, from_attributed_graph
from streamplace.formats.format import Format, Signs
from streamplace.formats.graphml import READ
from streamplace.formats.xml import kind_of, parse_xml, root_pattern
from streamplace.problem.logical import LogicalGraph
from streamplace.util.plugins import load_ours

NAMESPACE = "http://gexf.net/1.3"
READER, FAULT = "networkx:read_gexf", "networkx:NetworkXError"
"""Loaded when a file is read, since networkx is heavy."""
FAULTS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What networkx raises besides its own errors for a file that is not GEXF."""


def read(text: str, where: str) -> LogicalGraph:
    """Read a directed graph; ids are operators' names, or names and labels where ids are numbers.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a stream graph.
    """
    root = parse_xml(text, where, "gexf")
    _check_ids(root, where)
    graph = _by_networkx(root, where)
    if not graph.is_directed():
        raise FormatError(f"{where}: the graph is undirected; all edges must be directed")
    attributed = AttributedGraph(_texts(graph.graph, ("name", "source_rate")))
    groups = {data["pid"] for _, data in graph.nodes(data=True) if "pid" in data}
    defaults = graph.graph.get("node_default", {}), graph.graph.get("edge_default", {})
    for node, data in graph.nodes(data=True):
        known = _texts(defaults[0] | data, READ["node"])
        if node in groups:
            attributed.labels[node] = picture.first_line(known) or node
        elif "label" in data:  # other nodes are only ends of edges
            attributed.nodes[node] = known
    for source, target, data in graph.edges(data=True):
        attributed.edges.append((source, target, _texts(defaults[1] | data, READ["edge"])))
    notes = picture.understood(attributed, where)
    return from_attributed_graph(attributed, where, notes)


def _check_ids(root: Element, where: str) -> None:
    """Refuse ids that repeat, since networkx keeps the last node or edge of an id."""
    for kind in ("node", "edge"):
        count = Counter(each.get("id") for each in root.iter() if kind_of(each) == kind)
        for name, several in count.items():
            if name is not None and several > 1:
                raise FormatError(f"{where}: {kind} {name!r:.40} appears twice")


def _by_networkx(root: Element, where: str) -> Any:
    """Return the graph that networkx reads from a document without entities, which it expands.

    It knows some of the namespaces that versions of Gephi write. In this one it finds no colours
    and sizes of the picture.
    """
    for each in root.iter():
        each.tag = f"{{{NAMESPACE}}}{kind_of(each)}"
    try:
        return load_ours(READER)(BytesIO(tostring(root)))
    except RecursionError:
        raise
    except (load_ours(FAULT), *FAULTS) as error:
        reported = f"{type(error).__name__}: {' '.join(str(error).split()):.80}"
        raise FormatError(f"{where}: not GEXF that networkx reads ({reported})") from None


def _texts(data: Mapping[str, Any], known: tuple[str, ...]) -> Attributes:
    """Return the known attributes as text, without empty ones."""
    return {name: str(data[name]) for name in known if data.get(name) is not None}


FORMAT = Format(
    "gexf",
    about="a graph of Gephi or networkx",
    read=read,
    signs=Signs(endings=(".gexf",), text=root_pattern("gexf")),
)
