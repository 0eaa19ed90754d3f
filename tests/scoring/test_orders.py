"""Traversal orders, compared with plain algorithms and with networkx on random graphs."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from benchmarks.reference import traversal as plain
from benchmarks.reference.strategies import problems
from streamplace import Cluster, Device, Makespan, Network, Problem, StreamGraph
from streamplace.errors import UsageError
from streamplace.problem.objectives import ORDERS
from streamplace.scoring.orders import STRUCTURAL, WEIGHTED, mean_times, traversal_order
from streamplace.util.arrays import Ints
from tests.support.graphs import lettered_graph

PLAIN: dict[str, Callable[[StreamGraph], list[int]]] = {
    "lexico": plain.lexico,
    "topo-lifo": plain.topo_lifo,
    "topo-level": plain.topo_level,
    "reversed-topo-lifo": lambda graph: plain.topo_lifo(graph)[::-1],
    "reversed-topo-level": lambda graph: plain.topo_level(graph)[::-1],
    "dfs-preorder": plain.dfs_preorder,
    "dfs-postorder": plain.dfs_postorder,
    "bfs": plain.bfs,
}
FORWARD = ("topo-lifo", "topo-level", "b-level", "by-depth", "by-path")
BACKWARD = ("reversed-topo-lifo", "reversed-topo-level", "dfs-postorder")
TWINS = ("reversed-topo-lifo", "dfs-postorder")
GRAPHS = 1000


def problem_of(graph: StreamGraph, makespan: bool = False) -> Problem:
    cluster = Cluster.equal(2)
    if makespan:
        return Problem(graph, cluster, objective=Makespan())
    return Problem(graph, cluster, source_rate=10.0)


def sources_first(graph: StreamGraph, order: Ints) -> bool:
    position = np.argsort(order)
    return bool((position[graph.stream_source] < position[graph.stream_target]).all())


@pytest.mark.long
def test_orders_equal_independent_implementations() -> None:
    for seed in range(GRAPHS):
        graph = plain.random_graph(seed)
        for name, expected in PLAIN.items():
            assert traversal_order(graph, name).tolist() == expected(graph), (name, seed)
        for name in BACKWARD:
            assert sources_first(graph, traversal_order(graph, name)[::-1]), (name, seed)
        check_weighted(graph, seed)


def test_two_backward_orders_coincide_where_operators_are_listed_after_their_inputs() -> None:
    for seed in range(GRAPHS // 4):
        graph = plain.random_graph(seed)
        forward = ("topo-lifo", "topo-level", "by-depth", "by-path")[seed % 4]
        operators = [(graph.names[v], 1.0, 1.0) for v in traversal_order(graph, forward)]
        listed = StreamGraph(operators, [(s.source, s.target) for s in graph.streams])
        stack, search = (traversal_order(listed, name) for name in TWINS)
        assert stack.tolist() == search.tolist(), seed


def test_two_backward_orders_differ_where_an_operator_is_listed_before_its_input() -> None:
    operators = [(name, 1.0, 1.0) for name in ("source", "left", "join", "late")]
    ends = [("source", "join"), ("source", "late"), ("late", "left"), ("late", "join")]
    graph = StreamGraph(operators, ends)
    stack, search = ([graph.names[v] for v in traversal_order(graph, name)] for name in TWINS)
    assert stack == ["left", "join", "late", "source"]
    assert search == ["join", "left", "late", "source"]


def check_weighted(graph: StreamGraph, seed: int) -> None:
    problem = problem_of(graph, makespan=seed % 2 == 1)
    operators, streams = (times.tolist() for times in mean_times(problem))
    heaviest = sorted(range(len(operators)), key=lambda v: -operators[v])
    assert traversal_order(problem, "heaviest-operator").tolist() == heaviest, seed
    by_stream = plain.heaviest_stream(graph, streams)
    assert traversal_order(problem, "heaviest-stream").tolist() == by_stream, seed
    level = plain.levels(graph, operators, streams)
    order = traversal_order(problem, "b-level")
    assert (np.diff(np.array(level)[order]) <= 0).all(), seed
    for name in FORWARD:
        assert sources_first(graph, traversal_order(problem, name)), (name, seed)


def test_the_random_graphs_tell_the_orders_apart() -> None:
    graphs = [plain.random_graph(seed) for seed in range(50)]
    made = {
        name: [tuple(traversal_order(problem_of(graph), name)) for graph in graphs]
        for name in ORDERS
    }
    for name, one in made.items():
        for other, two in made.items():
            same = sum(a == b for a, b in zip(one, two, strict=True))
            assert name == other or same < len(graphs), (name, other)


@given(problems(max_size=9))
def test_every_order_has_every_operator_once(problem: Problem) -> None:
    for name in ORDERS:
        order = traversal_order(problem, name)
        assert order.dtype == np.int32
        assert sorted(order.tolist()) == list(range(len(problem.graph.names)))
        assert traversal_order(problem, name).tolist() == order.tolist()


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("lexico", "abcdefg"),
        ("topo-lifo", "abdcgef"),
        ("topo-level", "gafbecd"),
        ("reversed-topo-lifo", "fegcdba"),
        ("reversed-topo-level", "dcebfag"),
        ("dfs-preorder", "gfeabcd"),
        ("dfs-postorder", "fegcdba"),
        ("bfs", "abecdgf"),
        ("by-depth", "gafbecd"),
        ("by-path", "gfabcde"),
    ],
)
def test_by_hand(name: str, order: str) -> None:
    graph = lettered_graph("ge gf ab ae bc bd", names="gafbecd")
    assert "".join(graph.names[v] for v in traversal_order(graph, name)) == order


def test_names_sort_as_text() -> None:
    names = ["attn_2", "attn_10", "attn_1", "Z", "attn_0"]
    graph = StreamGraph([(name, 1.0, 1.0) for name in names])
    order = traversal_order(graph, "lexico")
    assert [names[v] for v in order] == ["Z", "attn_0", "attn_1", "attn_10", "attn_2"]


def test_heaviest_orders_and_levels_by_hand() -> None:
    """Under a makespan of one tuple, at 1 MIPS and 1 Mbps, times are in seconds."""
    graph = StreamGraph(
        [("a", 1e6, 0), ("b", 5e6, 250e3), ("c", 3e6, 500e3), ("d", 2e6, 0), ("e", 9e6, 0)],
        [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")],
    )
    cluster = Cluster.equal(2, mips=1.0, network=Network(bandwidth_mbps=4.0, latency_s=0.0))
    problem = Problem(graph, cluster, objective=Makespan())
    # a message between two devices takes 0 s, 0.5 s from b and 1 s from c; half of the pairs of
    # devices are one device. d takes two tuples, 4 s. The b-levels: a 10.25, b 9.25, c 7.5, d 4
    named = {n: "".join(graph.names[v] for v in traversal_order(problem, n)) for n in WEIGHTED}
    assert named == {"heaviest-operator": "ebdca", "heaviest-stream": "cdbae", "b-level": "abecd"}


def test_mean_times_of_streams_are_utilisations() -> None:
    graph = StreamGraph([("a", 1e6, 250.0), ("b", 5e5, 0.0)], [("a", "b", 0.5)])
    devices = [Device("slow", 100.0), Device("fast", 300.0)]
    cluster = Cluster(devices, Network(bandwidth_mbps=1.0, latency_s=0.0))
    operators, streams = mean_times(Problem(graph, cluster, source_rate=100.0))
    assert operators == pytest.approx([100 / 200, 25 / 200])
    assert streams == pytest.approx([50 * 2000 / 1e6])


def test_equal_levels_are_in_topological_order() -> None:
    graph = StreamGraph([(n, 0.0, 0.0) for n in "cba"], [("a", "b"), ("b", "c")])
    order = traversal_order(problem_of(graph), "b-level")
    assert [graph.names[v] for v in order] == ["a", "b", "c"]


def test_random_orders_depend_on_the_seed_alone() -> None:
    graph = plain.random_graph(3)
    drawn = {tuple(traversal_order(graph, "random", seed)) for seed in range(5)}
    assert len(drawn) == 5
    rng = np.random.default_rng(7)
    first, second = (traversal_order(graph, "random", rng).tolist() for _ in range(2))
    assert first == traversal_order(graph, "random", 7).tolist() != second


def test_every_name_has_an_order() -> None:
    assert {*STRUCTURAL, *WEIGHTED, "random"} == set(ORDERS)
    assert STRUCTURAL.keys().isdisjoint(WEIGHTED)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dfs-preoder", "unknown order 'dfs-preoder'; did you mean 'dfs-preorder'?"),
        ("x", "unknown order 'x'; choose from lexico, topo-lifo, "),
        ("", "unknown order ''; choose from"),
    ],
)
def test_unknown_orders_are_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        traversal_order(plain.random_graph(0), name)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", WEIGHTED)
def test_orders_by_weight_need_a_problem(name: str) -> None:
    with pytest.raises(UsageError, match=f"order '{name}': needs a problem"):
        traversal_order(plain.random_graph(0), name)
