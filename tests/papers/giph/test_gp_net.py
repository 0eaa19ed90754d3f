"""The graph of pairs against a plain construction, and its further features."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from pydantic import ValidationError

import streamplace as sp
from benchmarks.reference.giph import pair_graph
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.features import GiphProblem, encode
from streamplace.papers.giph.gp_net import (
    GpNet,
    earliest_pairs,
    finish_changes,
    gp_net,
    move_to_path,
    prior_criticality,
    relocate,
)
from streamplace.papers.giph.questions import WalkState, about_pairs, sight_of
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


def state_of(number: int, **options: object) -> tuple[sp.Problem, WalkState]:
    """Return a case and the state of a walk from a random placement."""
    problem = giph_problem(number)
    one = encode(problem, GiphSizes.model_validate(options))
    return problem, WalkState(one, random_start(problem, number))


@pytest.mark.parametrize("number", range(4))
def test_the_prior_flows_from_sources_to_sinks_along_heavy_streams(number: int) -> None:
    _, state = state_of(number)
    pairs = state.one.pairs
    operators, streams = prior_criticality(pairs)
    graph = nx.DiGraph(list(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True)))
    flow = {v: 0.0 if graph.in_degree(v) else 1.0 for v in graph}
    for v in nx.topological_sort(graph):
        out = [e for e in range(len(streams)) if pairs.source[e] == v]
        shares = np.exp(10 * pairs.data[out] / pairs.data.max())
        for e, share in zip(out, shares / shares.sum() if out else (), strict=True):
            assert streams[e] == pytest.approx(flow[v] * share)
            flow[int(pairs.target[e])] += flow[v] * share
    assert operators == pytest.approx([flow[v] for v in range(len(operators))])


@pytest.mark.parametrize("number", range(4))
def test_a_share_moves_to_the_path_whose_inputs_arrive_last(number: int) -> None:
    problem, state = state_of(number)
    pairs, devices = state.one.pairs, state.devices
    finish = makespan_evaluator(problem).trace(devices).finish_s[0]
    operators, streams = np.zeros(len(pairs.order)), np.zeros(len(pairs.source))
    moved, on_streams = move_to_path(pairs, state.net, finish, 0.25, operators, streams)
    path = np.flatnonzero(on_streams)
    assert set(on_streams[path]) == {0.25}
    last = int(finish.argmax())
    reached = {last}
    for e in sorted(path.tolist(), key=lambda e: -finish[pairs.target[e]]):
        v = int(pairs.target[e])
        assert v in reached
        reached.add(int(pairs.source[e]))
        arrivals = {
            i: finish[pairs.source[i]]
            + costs_between(problem, pairs.data[i], int(devices[pairs.source[i]]), int(devices[v]))[
                2
            ]
            for i in np.flatnonzero(pairs.target == v).tolist()
        }
        assert arrivals[e] == pytest.approx(max(arrivals.values()))
    assert {int(v) for v in np.flatnonzero(moved)} == reached
    again, _ = move_to_path(pairs, state.net, finish, 0.25, moved, on_streams)
    assert again[last] == pytest.approx(0.25 + 0.75 * 0.25)


@pytest.mark.parametrize("number", range(4))
def test_the_least_change_of_the_end_is_that_of_the_pair_that_ends_first(number: int) -> None:
    _, state = state_of(number)
    pairs, net = state.one.pairs, state.net
    trace = makespan_evaluator(state.one.problem).trace(state.devices)
    start, finish = trace.start_s[0], trace.finish_s[0]
    change = finish_changes(pairs, net, start, finish)
    assert (change[net.pivot] == 0.0).all()
    others = np.ones(len(change), np.bool_)
    others[net.pivot] = False
    first = earliest_pairs(pairs, net, start, finish, others, True)
    for v, best in enumerate(first.tolist()):
        own = np.arange(pairs.first[v], pairs.first[v + 1])
        own = own[own != net.pivot[v]]
        assert (best < 0) == (len(own) == 0)
        if len(own):
            assert change[best] == pytest.approx(change[own].min())


def test_further_features_are_columns_of_the_graph() -> None:
    problem, state = state_of(1, criticality=0.1, finish=True, reciprocals=True)
    plain = state_of(1)[1]
    scored = makespan_evaluator(problem)
    wide, narrow = (about_pairs(one, sight_of(one, scored)).view for one in (state, plain))
    sizes = state.one.sizes
    assert (
        (wide.x.shape[1], wide.f.shape[1]) == (sizes.pair_features, sizes.edge_features) == (6, 5)
    )
    assert (narrow.x.shape[1], narrow.f.shape[1]) == (4, 4)
    np.testing.assert_array_equal(wide.x[:, [0, 2, 3]], narrow.x[:, [0, 2, 3]])
    faster = np.argsort(narrow.x[:, 1], kind="stable")
    assert (np.diff(wide.x[faster, 1]) <= 1e-6).all()  # reciprocals fall
    assert np.abs(wide.f).max() <= 1.0


def test_criticality_is_kept_between_the_steps_of_a_walk() -> None:
    problem, state = state_of(1, criticality=0.5)
    scored = makespan_evaluator(problem)
    first = sight_of(state, scored)
    second = sight_of(state, scored, first)
    assert first.critical_operators is not None
    assert second.critical_operators is not None
    prior, _ = prior_criticality(state.one.pairs)
    path = first.critical_operators > 0.5 * prior
    np.testing.assert_allclose(first.critical_operators, 0.5 * prior + 0.5 * path)
    np.testing.assert_allclose(second.critical_operators, 0.25 * prior + 0.75 * path)


def test_operators_alone_have_no_further_features() -> None:
    for option, value in (("criticality", 0.1), ("finish", True), ("reciprocals", True)):
        with pytest.raises(ValidationError, match="which task-eft does not read"):
            GiphSizes.model_validate({"variant": "task-eft", option: value})


def test_a_graph_without_streams_has_the_same_columns() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e6, 0.0), sp.Operator("b", 2e6, 0.0)], source_rate=1.0
    )
    problem = sp.Problem(graph, sp.Cluster.parse("2x1000,1x500"), objective=sp.Makespan())
    one = encode(problem, GiphSizes(criticality=0.1, finish=True))
    state = WalkState(one, np.array([0, 2], np.int32))
    view = about_pairs(state, sight_of(state, makespan_evaluator(problem))).view
    assert view.x.shape[1] == one.sizes.pair_features
    assert view.f.shape == (0, one.sizes.edge_features)
    assert (
        sp.place(graph, "2x1000,1x500", objective=sp.Makespan(), placer="giph").score.makespan_s
    ) > 0
