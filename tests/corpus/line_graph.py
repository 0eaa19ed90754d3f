"""A chain of three operators, for inputs that are read together with a graph."""

from streamplace.problem.graph import StreamGraph


def line_graph() -> StreamGraph:
    """Return the graph."""
    rows = [("a", 1000.0, 100.0), ("b", 2000.0, 100.0), ("c", 3000.0, 0.0)]
    return StreamGraph(rows, [("a", "b"), ("b", "c")], name="line", source_rate=1000.0)
