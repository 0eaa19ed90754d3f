"""The shape of graphs, compared with networkx on random graphs."""

from statistics import fmean

import networkx as nx
import pytest
from hypothesis import given

from benchmarks.reference.strategies import graphs
from benchmarks.reference.traversal import as_networkx, random_graph
from streamplace import Recipe, StreamGraph
from streamplace.problem import graph_view
from streamplace.problem.graph_view import Shape
from tests.support.graphs import chain_graph


def expected(graph: StreamGraph) -> Shape:
    digraph = as_networkx(graph)
    levels = [len(level) for level in nx.topological_generations(digraph)]
    shortest = nx.all_pairs_shortest_path_length(digraph)
    return Shape(
        len(nx.dag_longest_path(digraph)),
        1 + max(max(lengths.values()) for _, lengths in shortest),
        len(graph.streams) / len(graph.names),
        max(levels),
    )


@given(graphs())
def test_shapes_equal_those_of_networkx(graph: StreamGraph) -> None:
    assert Shape.of(graph) == expected(graph)


def test_shapes_of_shuffled_graphs_equal_those_of_networkx() -> None:
    for seed in range(100):
        graph = random_graph(seed)
        assert Shape.of(graph) == expected(graph), seed


def test_a_chain_and_a_shortcut() -> None:
    assert Shape.of(chain_graph(1.0, 1.0, 1.0)) == Shape(3, 3, 2 / 3, 1)
    assert Shape.of(chain_graph(1.0)) == Shape(1, 1, 0.0, 1)
    names = [(name, 1.0, 1.0) for name in "abcd"]
    shortcut = StreamGraph(names, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert Shape.of(shortcut) == Shape(4, 3, 1.0, 1)


def test_long_paths_of_the_published_families_are_those_of_the_table() -> None:
    """docs/families.md counts streams, one fewer than operators."""
    shapes = [Shape.of(Recipe("nmt", 32, seed=1).graph(number)) for number in range(32)]
    longest = [found.longest_path - 1 for found in shapes]
    assert (round(fmean(longest), 1), min(longest), max(longest)) == (60.0, 51, 73)
    shortest = [(found.longest_shortest_path or 0) - 1 for found in shapes]
    assert (round(fmean(shortest), 1), min(shortest), max(shortest)) == (16.3, 14, 19)


def test_the_longest_shortest_path_of_a_large_graph_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = chain_graph(1.0, 1.0, 1.0)
    monkeypatch.setattr(graph_view, "LARGEST", 2)
    assert Shape.of(graph) == Shape(3, None, 2 / 3, 1)
