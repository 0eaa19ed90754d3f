"""Decoding orders, by hand and compared with networkx's generations."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from benchmarks.reference.strategies import problems
from streamplace.problem.cluster import Cluster
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim import orders
from streamplace.sim.flow import Flow, Ints
from tests.support.graphs import lettered_graph


def lettered_flow(streams: str, names: str = "") -> Flow:
    """Return a flow of one-letter operators, connected by streams such as ``"ab bc"``."""
    graph = lettered_graph(streams, names=names)
    return flow_of(Problem(graph, Cluster.equal(2), source_rate=1.0))


def letters(order: Ints, names: str = "abcdefghij") -> str:
    return "".join(names[v] for v in order)


def networkx_graph(flow: Flow) -> "nx.MultiDiGraph[int]":
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_nodes_from(range(flow.operators))
    graph.add_edges_from(zip(flow.source.tolist(), flow.target.tolist(), strict=True))
    return graph


def generations(graph: "nx.MultiDiGraph[int]") -> list[int]:
    """Return the length of the longest path to every node: its topological generation."""
    length = {v: i for i, some in enumerate(nx.topological_generations(graph)) for v in some}
    return [length[v] for v in range(len(graph))]


@given(problems(max_size=12))
def test_depths_and_heights_are_longest_paths(problem: Problem) -> None:
    flow = flow_of(problem)
    graph = networkx_graph(flow)
    assert orders.depths(flow).tolist() == generations(graph)
    assert orders.heights(flow).tolist() == generations(graph.reverse())
    longest = nx.dag_longest_path_length(nx.DiGraph(graph), weight="none", default_weight=1)
    assert orders.depths(flow).max() == orders.heights(flow).max() == longest


@given(problems(max_size=12))
def test_upstream_operators_come_first(problem: Problem) -> None:
    flow = flow_of(problem)
    for order in (orders.by_depth(flow), orders.by_path(flow)):
        assert order.dtype == np.int32
        assert sorted(order.tolist()) == list(range(flow.operators))
        position = np.argsort(order)
        assert (position[flow.source] < position[flow.target]).all()


@given(problems(max_size=12))
def test_by_depth_is_by_depth_then_by_number(problem: Problem) -> None:
    flow = flow_of(problem)
    depth = generations(networkx_graph(flow))
    expected = sorted(range(flow.operators), key=lambda v: (depth[v], v))
    assert orders.by_depth(flow).tolist() == expected


@given(problems(max_size=12))
def test_by_path_continues_the_path_if_possible(problem: Problem) -> None:
    """The next operator is one whose last input has just been placed, unless the path ends."""
    flow = flow_of(problem)
    graph = networkx_graph(flow)
    order = orders.by_path(flow).tolist()
    for i in range(1, len(order)):
        done = set(order[:i])
        ready = [w for w in graph.successors(order[i - 1]) if set(graph.predecessors(w)) <= done]
        assert not ready or order[i] in ready


@pytest.mark.parametrize(
    ("streams", "breadth", "depth"),
    [
        ("ab bc ad de", "abdce", "abcde"),
        ("ab ac bd cd de", "abcde", "abcde"),
        ("ac bd ce df", "abcdef", "acebdf"),
        ("ae ab bc cd de", "abcde", "abcde"),
        ("ab ae bc bd ef", "abecdf", "abcdef"),
        ("ab ab ac", "abc", "abc"),
        ("ba bc cd", "bacd", "bacd"),
    ],
    ids=["two paths", "a join", "two sources", "a shortcut", "a tree", "parallel", "names"],
)
def test_by_hand(streams: str, breadth: str, depth: str) -> None:
    flow = lettered_flow(streams)
    assert letters(orders.by_depth(flow)) == breadth
    assert letters(orders.by_path(flow)) == depth


def test_depths_and_heights_by_hand() -> None:
    """The shortcut a -> d shortens neither depths nor heights."""
    flow = lettered_flow("ab bc cd ad ae")
    assert orders.depths(flow).tolist() == [0, 1, 2, 3, 1]
    assert orders.heights(flow).tolist() == [3, 2, 1, 0, 0]


def test_operators_without_streams() -> None:
    flow = lettered_flow("", names="abc")
    for order in (orders.by_depth(flow), orders.by_path(flow)):
        assert order.tolist() == [0, 1, 2]
    assert orders.depths(flow).tolist() == orders.heights(flow).tolist() == [0, 0, 0]
