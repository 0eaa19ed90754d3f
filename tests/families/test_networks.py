"""Families of training steps of neural networks: the published statistics, and merging."""

import networkx
import numpy as np
import pytest

from streamplace import Recipe, StreamGraph, to_networkx
from streamplace.families.networks import Step, merged_graph

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


def test_forward_passes_merge_to_the_forty_groups_of_giph() -> None:
    recipe = Recipe("enas-ptb:backward=false", 10, range(40, 41), 1)
    assert {len(recipe.graph(number).names) for number in range(10)} == {40}


def small_step() -> Step:
    """Return x -> product -> relu -> loss with its backward pass, without merging."""
    step = Step()
    x = step.add("x", "input", (2, 3), ())
    y = step.add("y", "matmul", (2, 4), (x,), 48.0, weights=12)
    z = step.add("z", "relu", (2, 4), (y,))
    step.add("loss", "loss", (1,), (z,), linear=True)
    step.add_backward()
    return step


def test_the_backward_pass_mirrors_the_forward_pass() -> None:
    graph = merged_graph(small_step(), 99, "g")
    streams = {(s.source, s.target): s.payload_bytes for s in graph.streams}
    assert set(streams) == {
        ("x", "y"), ("y", "z"), ("z", "loss"), ("loss", "loss_grad"),
        ("loss_grad", "z_grad"), ("y", "z_grad"), ("z_grad", "y_grad"), ("y_grad", "x_grad"),
        ("y_grad", "y_update"), ("x", "y_update"),
    } - {("loss", "loss_grad")}  # fmt: skip
    assert graph.instructions[graph.index["y_update"]] == 48.0


def test_merging_keeps_work_and_counts_a_tensor_once() -> None:
    step = Step()
    x = step.add("x", "input", (5,), ())
    a = step.add("a", "relu", (7,), (x,), 1.0)
    b = step.add("b", "relu", (7,), (x,), 9.0)
    c = step.add("c", "relu", (2,), (a,), 3.0)
    step.add("d", "relu", (1,), (b, c, a), 4.0)
    graph = merged_graph(step, 3, "g")
    # a joins x, and then c joins both; b and d are left
    assert list(graph.names) == ["x", "b", "d"]
    assert graph.instructions.tolist() == [9.0, 9.0, 4.0]
    ends = [(stream.source, stream.target) for stream in graph.streams]
    assert dict(zip(ends, graph.stream_payload_bytes.tolist(), strict=True)) == {
        ("x", "b"): 20.0,
        ("x", "d"): 36.0,
        ("b", "d"): 28.0,
    }
