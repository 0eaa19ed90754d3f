"""Tests of the graph of pairs against a plain construction."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.giph import pair_graph
from streamplace.papers.giph.gp_net import GpNet, gp_net, relocate
from streamplace.papers.giph.pairs import GiphProblem, encode
from streamplace.papers.giph.questions import WalkState
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.papers.giph.view import view_of
from tests.support.giph import costs_between, giph_problem, random_start
from tests.support.graphs import preset_graph
from tests.support.share import Share

SIZES = GiphSizes()


def data_of(problem: sp.Problem) -> dict[tuple[int, int], float]:
    """Return the bits of the message between each pair of operators."""
    graph = problem.graph
    joined: dict[tuple[int, int], float] = {}
    names = {name: v for v, name in enumerate(graph.names)}
    batch = problem.makespan_objective.batch
    for stream in graph.streams:
        payload = stream.payload_bytes
        if payload is None:
            payload = graph.operators[names[stream.source]].payload_bytes
        ends = names[stream.source], names[stream.target]
        joined[ends] = joined.get(ends, 0.0) + 8.0 * payload * stream.selectivity * batch
    return joined


def expected_edges(problem: sp.Problem, devices: Any) -> Mapping[Any, Any]:
    """Return the features of each edge by its ends, constructed plainly."""
    allowed = problem.feasibility.allowed[problem.feasibility.unit_of]
    feasible = [np.flatnonzero(row).tolist() for row in allowed]
    graph = pair_graph(
        devices.tolist(),
        feasible,
        data_of(problem),
        partial(costs_between, problem),
    )
    return {(a, b): features["f"] for a, b, features in graph.edges(data=True)}


def found_edges(one: GiphProblem, net: GpNet) -> dict[Any, Any]:
    """Return the features of each edge by its ends; no edge may occur twice."""
    pairs = list(zip(one.pairs.operator.tolist(), one.pairs.device.tolist(), strict=True))
    edges = [
        (pairs[a], pairs[b]) for a, b in zip(net.source.tolist(), net.target.tolist(), strict=True)
    ]
    assert len(set(edges)) == len(edges)
    return dict(zip(edges, net.features.tolist(), strict=True))


def check_walk(problem: sp.Problem, seed: int, moves: int) -> None:
    """Compare the graph of a random placement, and after random moves."""
    rng = np.random.default_rng(seed)
    one, devices = encode(problem, SIZES), random_start(problem, seed).copy()
    net = gp_net(one.pairs, devices)
    for _ in range(moves + 1):
        expected, found = expected_edges(problem, devices), found_edges(one, net)
        assert found.keys() == expected.keys()
        features = [found[edge] for edge in expected]
        np.testing.assert_allclose(features, [*expected.values()], rtol=1e-12)
        pair = int(rng.integers(len(one.pairs.operator)))
        v, devices[v] = int(one.pairs.operator[pair]), one.pairs.device[pair]
        relocate(one.pairs, net, v, int(devices[v]))


@pytest.mark.parametrize("number", range(12))
def test_the_graph_equals_a_plain_construction_after_moves_too(number: int) -> None:
    check_walk(giph_problem(number), number, 3)


@pytest.mark.long
def test_the_graph_equals_a_plain_construction_on_a_thousand_problems(share: Share) -> None:
    for number in share.of(range(1000)):
        check_walk(giph_problem(number, "giph-paper"), number, 1)


def test_the_numbers_of_pairs_and_edges_are_those_of_the_paper() -> None:
    problem = giph_problem(3)
    one = encode(problem, SIZES)
    net = gp_net(one.pairs, random_start(problem))
    pairs = np.diff(one.pairs.first)
    degree = np.bincount(np.concatenate([one.pairs.source, one.pairs.target]))
    assert len(net.source) == int((pairs * degree).sum()) - len(one.pairs.source)


def test_of_equal_idle_devices_only_the_first_is_offered() -> None:
    graph = preset_graph("layered", 8, 0)
    problem = sp.Problem(graph, sp.Cluster.parse("4x1000,2x3000"), objective=sp.Makespan())
    one = encode(problem, SIZES)
    devices = np.array([1, 1, 1, 4, 4, 1, 1, 1], np.int32)
    offered = WalkState(one, devices).offered()
    assert set(one.pairs.device[offered].tolist()) == {0, 1, 4, 5}
    every = encode(problem, GiphSizes(merges_idle=False))
    assert WalkState(every, devices).offered().all()


def test_columns_are_scaled_over_the_pairs_that_are_offered() -> None:
    problem = giph_problem(1)
    one = encode(problem, SIZES)
    net = gp_net(one.pairs, random_start(problem))
    potential = np.random.default_rng(0).normal(size=len(one.pairs.operator))
    offered = np.ones(len(potential), np.bool_)
    view = view_of(one.pairs, net, potential, offered)
    low, high = potential.min(), potential.max()
    np.testing.assert_allclose(view.x[:, 3], 2 * (potential - low) / (high - low) - 1, atol=1e-6)
    assert view.x.min() == -1.0
    assert view.x.max() == 1.0
    within = one.pairs.device[view.source] == one.pairs.device[view.target]
    assert (view.f[within, 1] == 1.0).all(), "infinite bandwidth counts as the largest"
    assert np.isfinite(view.f).all()
