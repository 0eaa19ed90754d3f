"""Features of vertices: shapes, switches, and values by hand."""

from dataclasses import replace

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.graph_parsing import fractal_dimension
from streamplace.papers.hsdag.features import MADE, encode, feature_count
from streamplace.papers.hsdag.sizes import HsdagSizes
from tests.support.graphs import preset_graph
from tests.support.hsdag import pass_problem, stream_problem

EACH = [HsdagSizes(features=[name], devices=2, encoding=4, chains=False) for name in MADE]


@pytest.mark.parametrize("sizes", EACH, ids=[sizes.features[0] for sizes in EACH])
def test_every_kind_of_feature_can_be_alone(sizes: HsdagSizes) -> None:
    one = encode(pass_problem(), sizes)
    assert one.features.shape == (12, feature_count(sizes))
    assert np.isfinite(one.features).all()


def test_costs_on_any_number_of_devices_have_three_columns() -> None:
    sizes = HsdagSizes(features=["cost"], capacity=True)
    columns = encode(stream_problem(), sizes).features
    assert columns.shape[1] == feature_count(sizes) == 3
    assert (columns[:, 0] <= columns[:, 1]).all()
    assert (columns[:, 1] <= columns[:, 2]).all()


def typed(*types: str) -> sp.Problem:
    """Return a problem of a fork: the first operator sends to all others."""
    operators = [
        replace(sp.Operator(f"o{v}", 1e6, 100.0 * (v + 1)), type=name)
        for v, name in enumerate(types)
    ]
    graph = sp.StreamGraph(operators, [sp.Stream("o0", o.name) for o in operators[1:]])
    return sp.Problem(graph, sp.Cluster.parse("1x4000,1x1000"), objective=sp.Makespan())


def test_types_are_shares_and_unknown_ones_have_a_column() -> None:
    sizes = HsdagSizes(features=["type"], types=["conv", "relu"])
    found = encode(typed("conv", "relu", "norm"), sizes).features
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    joined = encode(typed("conv", "relu"), sizes)  # a chain is one vertex
    assert joined.features.tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("sizes", [{"types": ["a", "b", "a"]}, {"features": ["cost", "cost"]}])
def test_types_and_features_are_listed_once(sizes: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match="is listed more than once"):
        HsdagSizes.model_validate(sizes)


def test_degrees_beyond_the_last_column_are_in_it() -> None:
    found = encode(typed(*"abcd"), HsdagSizes(features=["degree"], degrees=3)).features
    assert found[0].tolist() == [1, 0, 0, 0, 0, 1]
    assert found[1].tolist() == [0, 1, 0, 1, 0, 0]


def test_costs_follow_the_devices() -> None:
    found = encode(typed(*"abc"), HsdagSizes(features=["cost"])).features
    cost = np.expm1(found)
    assert cost[:, 1] == pytest.approx(4.0 * cost[:, 0], rel=1e-5)
    assert cost.mean() == pytest.approx(1.0, rel=1e-5)  # relative to an average operator


def test_sizes_are_logs_of_bytes_and_positions_go_from_0_to_1() -> None:
    sizes = HsdagSizes(features=["size", "position"], encoding=2)
    found = encode(typed(*"abc"), sizes).features
    assert found[:, 0] == pytest.approx(np.log1p([100.0, 200.0, 300.0]) / 20.0)
    assert found[:, 1].tolist() == [0.0, 0.5, 1.0]
    assert found[:, 2:] == pytest.approx(
        np.stack([np.sin(np.arange(3)), np.cos(np.arange(3))], axis=1)
    )


def test_shapes_are_logs_of_axes_padded_with_zeros() -> None:
    shapes = {0: (3,), 1: (2, 3, 5, 7), 2: (2, 3, 5, 7, 11)}
    graph = sp.StreamGraph.from_columns(
        list("abcd"), [1.0] * 4, [8.0] * 4, [(0, 3), (1, 3), (2, 3)], output_shape=shapes
    )
    problem = sp.Problem(graph, sp.Cluster.parse("2x1000"), objective=sp.Makespan())
    one = encode(problem, HsdagSizes(features=["shape"], chains=False))
    axes = np.array([[3, 0, 0, 0], [2, 3, 5, 7], [6, 5, 7, 11], [0, 0, 0, 0]])
    assert one.features == pytest.approx(np.log1p(axes) / 10)


def test_fractal_dimensions_are_those_of_the_coarse_graph() -> None:
    one = encode(pass_problem(30), HsdagSizes(features=["fractal"]))
    edges = [tuple(edge) for edge in one.graph.directed.tolist()]
    vertices = one.graph.vertices
    expected = [fractal_dimension(vertices, edges, v) for v in range(vertices)]
    assert one.features[:, 0] == pytest.approx(expected, abs=1e-6)


def test_traffic_within_a_vertex_does_not_count() -> None:
    """Of a chain of two operators, one vertex is left, without traffic."""
    sizes = HsdagSizes(features=["stream"], capacity=True)
    found = np.expm1(encode(typed("a", "b"), sizes).features)
    assert found[0].tolist() == pytest.approx([2.0, 0.0, 0.0, 0.0])
    apart = np.expm1(encode(typed("a", "b", "c"), sizes).features)
    assert apart[0] == pytest.approx([1.0, 0.0, 2.0, 2.0], rel=1e-5)
    assert apart[1] == pytest.approx([1.0, 1.0, 0.0, 0.0], rel=1e-5)


def test_a_problem_without_work_or_streams_has_features() -> None:
    graph = sp.StreamGraph([sp.Operator("a", 0.0, 0.0)], [])
    problem = sp.Problem(graph, sp.Cluster.equal(2), objective=sp.Makespan())
    one = encode(problem, HsdagSizes(features=list(MADE)))
    assert np.isfinite(one.features).all()
    assert one.cost.tolist() == [[0.0, 0.0]]


def test_fewest_groups_are_four_per_device_by_default() -> None:
    problem = stream_problem()
    assert encode(problem, HsdagSizes()).least == 12
    assert encode(problem, HsdagSizes(min_groups=5)).least == 5


def test_vertices_on_few_devices_keep_them() -> None:
    graph = preset_graph("layered", 12, 0)
    cluster = sp.Cluster.equal(3)
    pins = sp.Constraints(pins={graph.names[2]: cluster.names[1]})
    problem = sp.Problem(graph, cluster, source_rate=1e4, constraints=pins)
    one = encode(problem, HsdagSizes())
    assert one.allowed[one.grouping.group_of[2]].tolist() == [False, True, False]
