"""Cuts by METIS and their checks: unusual graphs, weights, target weights, silence on stdout."""

import subprocess
import sys

import numpy as np
import pymetis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import PlacementError
from streamplace.placers.partition.cut import WeightedGraph, edge_weights, vertex_weights


@st.composite
def multigraphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int], int]:
    """Return vertices, edges, vertex weights and parts; edges may repeat in either direction."""
    count = draw(st.integers(1, 14))
    vertex = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex).filter(lambda e: e[0] != e[1]), max_size=40))
    weights = draw(st.lists(st.integers(0, 1000), min_size=count, max_size=count))
    return count, edges, weights, draw(st.integers(1, count))


@given(multigraphs(), st.booleans(), st.booleans())
def test_any_graph_gets_valid_parts(
    case: tuple[int, list[tuple[int, int]], list[int], int], recursive: bool, unequal: bool
) -> None:
    count, edges, weights, parts = case
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    shares = np.arange(1.0, parts + 1) if unequal else None
    edge_weights = np.ones(len(ends), dtype=np.int64)
    graph = WeightedGraph(ends[:, 0], ends[:, 1], np.array(weights), edge_weights)
    found = graph.partition(parts, shares, recursive=recursive)
    assert found.shape == (count,)
    assert found.min() >= 0
    assert found.max() < parts


def test_edges_out_of_range_are_refused() -> None:
    ones = np.ones(1, dtype=np.int64)
    for ends in ((0, 3), (-1, 0), (1, 1)):
        with pytest.raises(
            ValueError, match="an edge has an unknown vertex, or joins a vertex to itself"
        ):
            WeightedGraph(np.array(ends[:1]), np.array(ends[1:]), np.ones(3, int), ones)


def test_a_wrong_cut_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pymetis, "part_graph", lambda *_, **__: (7, [0, 1, 1]))
    ends = np.array([0, 1])
    graph = WeightedGraph(ends, ends + 1, np.ones(3, int), np.ones(2, int))
    with pytest.raises(PlacementError, match="METIS reported a cut of 7"):
        graph.partition(2, recursive=False)


def test_output_of_metis_does_not_reach_stdout() -> None:
    # METIS prints warnings for this graph, so the test fails if they are not silenced
    program = (
        "import numpy as np\n"
        "from streamplace.placers.partition.cut import WeightedGraph\n"
        "a = np.array([0, 1, 2]); b = np.array([1, 2, 3]); w = np.ones(3, int)\n"
        "for parts in (3, 4):\n"
        "    for weights in (np.zeros(4, int), np.array([9, 0, 0, 0])):\n"
        "        graph = WeightedGraph(a, b, weights, w)\n"
        "        graph.partition(parts, recursive=True)\n"
        "        graph.partition(parts, recursive=False)\n"
        "print('only this')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout == b"only this\n"
    assert run.stderr == b""


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300])
def test_weights_too_small_to_divide_by_keep_their_proportions(scale: float) -> None:
    weights = scale * np.array([4.0, 0.0, 2.0])
    for made in (vertex_weights(weights), edge_weights(weights)):
        assert made[0] == 2 * made[2] > 2
        assert made[1] <= 1


@pytest.mark.parametrize("weight", [2**30, 2**31, 2**62])
def test_weights_with_too_large_a_sum_are_refused(weight: int) -> None:
    """METIS ends the process on some of these weights."""
    ends, light, heavy = np.array([0, 1]), np.ones(3, int), np.array([weight, 1, 1])
    for vertices, edges in ((heavy, light[:2]), (light, heavy[:2])):
        with pytest.raises(ValueError, match="must add up to at most 1,073,741,824"):
            WeightedGraph(ends, ends + 1, vertices, edges)


@pytest.mark.parametrize("parts", [-1, 0, 4, 500])
def test_numbers_of_parts_out_of_range_are_refused(parts: int) -> None:
    ends, ones = np.array([0, 1]), np.ones(2, dtype=np.int64)
    graph = WeightedGraph(ends, ends + 1, np.ones(3, int), ones)
    with pytest.raises(ValueError, match="parts must be 1 to 3"):
        graph.partition(parts, recursive=False)


@pytest.mark.parametrize("recursive", [False, True])
def test_parts_may_exceed_their_share_by_the_imbalance(recursive: bool) -> None:
    """A chain of heavy streams and a light one, which an equal cut cannot be content with."""
    ends = np.arange(9)
    traffic = np.full(9, 100)
    traffic[2] = 1
    graph = WeightedGraph(ends, ends + 1, np.full(10, 100), traffic)
    found = {}
    for imbalance in (0.01, 0.5):
        part_of = graph.partition(2, recursive=recursive, imbalance=imbalance)
        found[imbalance] = traffic[part_of[:-1] != part_of[1:]].sum()
        assert np.bincount(part_of).max() <= 5 * (1 + imbalance)
    assert found[0.01] >= 100 > found[0.5] == 1


def test_invalid_weights_are_refused() -> None:
    ends, ones = np.array([0, 1]), np.ones(2, dtype=np.int64)
    for vertices, edges, shares in (
        (np.array([1, -1, 1]), ones, None),
        (np.ones(3, int), ones * 0, None),
        (np.ones(3, int), ones, np.array([0.5, 0.0])),
        (np.ones(3, int), ones, np.ones(3)),
    ):
        with pytest.raises(ValueError, match="must be"):
            WeightedGraph(ends, ends + 1, vertices, edges).partition(2, shares, recursive=False)
