"""Graphs as PyTorch Geometric data."""

import numpy as np
import pytest
import torch
from hypothesis import given
from torch_geometric.utils import to_networkx

import streamplace as sp
from benchmarks.reference.strategies import problems
from streamplace.errors import GraphError, ProblemError
from streamplace.learning.pyg import OPERATOR_COLUMNS, STREAM_COLUMNS, to_pyg
from streamplace.scoring.flow import flow


@given(problem=problems())
def test_loads_and_traffic_follow_from_the_columns(problem: sp.Problem) -> None:
    made, arrays = to_pyg(problem.graph), flow(problem)
    x = dict(zip(OPERATOR_COLUMNS, made.x.double().numpy().T, strict=True))
    e = dict(zip(STREAM_COLUMNS, made.edge_attr.double().numpy().T, strict=True))
    rate = problem.source_rate
    np.testing.assert_allclose(x["tuples"] * x["instructions"] * rate, arrays.work, rtol=1e-5)
    bits = e["tuples"] * e["payload_bytes"] * 8 * rate
    np.testing.assert_allclose(bits, arrays.stream_bits, rtol=1e-5)
    np.testing.assert_allclose(x["source_share"] * rate, arrays.source_tuples, rtol=1e-5)
    np.testing.assert_allclose(x["memory_bytes"], problem.graph.memory_bytes, rtol=1e-6)
    ends = np.stack([problem.graph.stream_source, problem.graph.stream_target])
    assert (made.edge_index.numpy() == ends).all()
    assert (made.x.dtype, made.edge_index.dtype) == (torch.float32, torch.int64)
    assert made.validate()
    assert made.num_nodes == len(problem.graph.names)


def small_graph() -> sp.StreamGraph:
    return sp.StreamGraph(
        [("a", 1e5, 10), ("b", 2e5, 20, 3.0), ("c", 0, 0)],
        [("a", "b", 0.5), ("b", "c"), {"source": "a", "target": "c", "payload_bytes": 7}],
        name="small",
    )


def test_columns_match_their_names() -> None:
    made = to_pyg(small_graph())
    assert made.x.tolist() == [[1e5, 10, 0, 1, 1], [2e5, 20, 3, 0, 0.5], [0, 0, 0, 0, 1.5]]
    assert made.edge_index.tolist() == [[0, 0, 1], [1, 2, 2]]
    assert made.edge_attr.tolist() == [[0.5, 10, 0.5], [1, 7, 1], [1, 20, 0.5]]
    assert made.source_rate.isnan().all()
    assert made.name == "small"
    assert made.y is None
    assert sorted(to_networkx(made).edges) == [(0, 1), (0, 2), (1, 2)]


def test_a_placement_becomes_the_labels() -> None:
    graph = small_graph()
    problem = sp.Problem(graph, "3x1000", source_rate=5)
    made = to_pyg(graph, sp.Placement(problem, [2, 0, 1]))
    assert made.y.tolist() == [2, 0, 1]
    assert made.y.dtype == torch.int64
    result = sp.place(graph, "3x1000", source_rate=5, placer="single")
    assert to_pyg(graph, result).y.tolist() == result.placement.devices.tolist()
    with pytest.raises(ProblemError, match="to_pyg: placement must be Placement, not list"):
        to_pyg(graph, [2, 0, 1])  # type: ignore[arg-type]
    other = sp.StreamGraph([("a", 1, 1)])
    with pytest.raises(ProblemError, match="belongs to another graph"):
        to_pyg(other, sp.Placement(problem, [2, 0, 1]))


def test_instances_are_nodes_where_a_placement_has_a_device_for_each() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e5, 10), sp.Operator("b", 2e5, 20, parallelism=3)], [("a", "b", 0.6)]
    )
    problem = sp.Problem(graph, "3x1000", source_rate=5)
    made = to_pyg(graph, sp.Placement(problem, [2, 0, 1, 1]))
    assert problem.graph.names == ("a", "b[0]", "b[1]", "b[2]")
    assert made.y.tolist() == [2, 0, 1, 1]
    assert made.edge_index.tolist() == [[0, 0, 0], [1, 2, 3]]
    torch.testing.assert_close(made.edge_attr[:, 0], torch.full((3,), 0.2))
    result = sp.place(graph, "3x1000", source_rate=5, placer="single")
    for of_instances in (to_pyg(graph, result), to_pyg(result.placement.problem.graph, result)):
        assert torch.equal(of_instances.x, made.x)
        assert of_instances.validate()
    assert to_pyg(graph).num_nodes == 2
    other = sp.StreamGraph([sp.Operator("a", 1, 1, parallelism=4)])
    with pytest.raises(ProblemError, match="belongs to another graph"):
        to_pyg(other, result)


def test_the_result_of_a_makespan_becomes_the_labels() -> None:
    graph = sp.StreamGraph([("a", 1e5, 10), ("b", 2e5, 20)], [("a", "b")], firing="all")
    result = sp.place(graph, "3x1000", objective=sp.Makespan(), placer="heft")
    assert to_pyg(graph, result).y.tolist() == result.placement.devices.tolist()


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(GraphError, match="unknown: instructions of 'a'"):
        to_pyg(sp.StreamGraph([("a", float("nan"), 1)]))
    with pytest.raises(GraphError, match="too large for 32 bits"):
        to_pyg(sp.StreamGraph([("a", 1e200, 1)]))
