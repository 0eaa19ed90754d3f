"""Reader and writer of DOT, the language of Graphviz."""

from streamplace.integrations.formats.attributes import (
    AttributedGraph,
    Attributes,
    from_attributed_graph,
    to_attributed_graph,
)
from streamplace.integrations.formats.dot_syntax import parse_dot
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement


def read(text: str, where: str) -> LogicalGraph:
    """Read a digraph; the nodes' ids or names are the operators' names.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a stream graph.
    """
    return LogicalGraph(from_attributed_graph(parse_dot(text, where), where))


def write(placement: Placement) -> str:
    """Return a placement's graph as DOT; every operator has its ``device``."""
    return _to_text(to_attributed_graph(placement.problem.graph, placement.assignment))


def graph_text(graph: StreamGraph) -> str:
    """Return a graph as DOT."""
    return _to_text(to_attributed_graph(graph))


def _to_text(attributed: AttributedGraph) -> str:
    attributes_left = dict(attributed.attributes)
    name = attributes_left.pop("name", "")
    lines = [f"digraph {_quoted(name)} {{" if name else "digraph {"]
    if attributes_left:
        lines.append(f"  graph{_bracketed(attributes_left)};")
    for node, attributes in attributed.nodes.items():
        lines.append(f"  {_quoted(node)}{_bracketed(attributes)};")
    for source, target, attributes in attributed.edges:
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{_bracketed(attributes)};")
    return "\n".join([*lines, "}", ""])


def _bracketed(attributes: Attributes) -> str:
    pairs = ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())
    return f" [{pairs}]" if pairs else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
