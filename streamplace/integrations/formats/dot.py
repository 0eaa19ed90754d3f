"""Graphs and placements in DOT, which Graphviz draws."""

from streamplace.integrations.formats.attributes import Attributes, Drawing, drawing_of, graph_of
from streamplace.integrations.formats.dot_syntax import parse_dot
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement


def read(text: str, where: str) -> LogicalGraph:
    """Read a digraph; operators are called by their nodes' ids.

    Raises
    ------
    FormatError
        Naming `where`, the place in it and the fault.
    GraphError
        If it is no stream graph.
    """
    return LogicalGraph(graph_of(parse_dot(text, where), where))


def write(placement: Placement) -> str:
    """Return a placement's graph, every operator with its ``device``."""
    return _written(drawing_of(placement.problem.graph, placement.assignment))


def graph_text(graph: StreamGraph) -> str:
    """Return a graph."""
    return _written(drawing_of(graph))


def _written(drawing: Drawing) -> str:
    told = dict(drawing.attributes)
    name = told.pop("name", "")
    lines = [f"digraph {_quoted(name)} {{" if name else "digraph {"]
    if told:
        lines.append(f"  graph{_listed(told)};")
    for node, attributes in drawing.nodes.items():
        lines.append(f"  {_quoted(node)}{_listed(attributes)};")
    for source, target, attributes in drawing.edges:
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{_listed(attributes)};")
    return "\n".join([*lines, "}", ""])


def _listed(attributes: Attributes) -> str:
    pairs = ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())
    return f" [{pairs}]" if pairs else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
