"""The length of the longest path of a graph, as the results of studies state it."""

from sim.orders import longest_paths
from streamplace.problem.graph import StreamGraph


def longest_path(graph: StreamGraph) -> int:
    """Return the number of streams on the longest path."""
    paths = longest_paths(graph.stream_source, graph.stream_target, len(graph.names))
    return int(paths.max())
