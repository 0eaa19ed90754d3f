"""Families of training steps of neural networks: the published statistics, types and sizes."""

import networkx
import numpy as np
import pytest

from streamplace import Recipe, StreamGraph, to_networkx

PUBLISHED = {  # operators, streams per operator, diameter (traversal order paper, Table I)
    "enas-cifar": (303.44, 1.47, 95.63),
    "enas-ptb": (500.75, 2.56, 316.09),
    "nmt": (179.44, 2.65, 63.13),
}


def longest_path(graph: StreamGraph) -> int:
    """Return the number of streams on the longest path."""
    return int(networkx.dag_longest_path_length(networkx.DiGraph(to_networkx(graph)), weight=""))


@pytest.mark.long
@pytest.mark.parametrize("family", PUBLISHED)
def test_statistics_are_within_a_tenth_of_the_published_ones(family: str) -> None:
    graphs = [Recipe(family, 32, seed=1).graph(number) for number in range(32)]
    operators = np.mean([len(graph.names) for graph in graphs])
    streams = np.mean([len(graph.streams) for graph in graphs])
    depth = np.mean([longest_path(graph) for graph in graphs])
    expected = PUBLISHED[family]
    assert (operators, streams / operators, depth) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("family", PUBLISHED)
def test_graphs_have_work_types_and_distinct_streams(family: str) -> None:
    graph = Recipe(family, 1, seed=4).graph(0)
    assert graph.firing == "all"
    assert len(graph.type) == len(graph.names)
    assert (graph.instructions >= 0).all()
    assert graph.instructions.sum() > 1e9
    assert (graph.stream_payload_bytes > 0).all()
    ends = set(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    assert len(ends) == len(graph.streams)
    for v, shape in graph.output_shape.items():
        assert graph.payload_bytes[v] == np.empty(shape, np.float32).nbytes


@pytest.mark.parametrize("family", PUBLISHED)
def test_larger_graphs_are_longer(family: str) -> None:
    small, large = (Recipe(family, 1, range(n, n + 1), 2).graph(0) for n in (600, 1200))
    assert len(large.names) > 1.5 * len(small.names)
    assert longest_path(large) > 1.3 * longest_path(small)
