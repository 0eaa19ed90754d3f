"""Groupings: weights of groups, and expansion of placements of groups to operators."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.graph_parsing import chains
from benchmarks.reference.strategies import graphs
from streamplace import Cluster, Constraints, Problem
from streamplace.errors import ProblemError
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.grouping import Grouping, chain_groups, chain_links, feasible_chain_groups
from tests.support.graphs import chain_graph, preset_graph
from tests.support.strategies import constrained_problems

CHAIN = StreamGraph(
    [Operator(name, 1, 1) for name in "abcd"], [Stream(*e) for e in ("ab", "bc", "cd")]
)


def test_quotient_by_hand() -> None:
    """The groups {a, c} and {b, d} form a cycle, which a quotient may have."""
    quotient = Grouping(CHAIN, [0, 1, 0, 1]).quotient(
        np.array([1.0, 2, 4, 8]), np.array([1.0, 2, 4])
    )
    assert quotient.load.tolist() == [5, 10]
    assert list(zip(quotient.source, quotient.target, quotient.traffic, strict=True)) == [
        (0, 1, 5),
        (1, 0, 2),
    ]


def test_one_group_has_no_streams() -> None:
    quotient = Grouping(CHAIN, [0, 0, 0, 0]).quotient(np.ones(4), np.ones(3))
    assert quotient.load.tolist() == [4]
    assert len(quotient.source) == len(quotient.target) == len(quotient.traffic) == 0


@given(st.data(), graphs())
def test_quotients_keep_the_sums(data: st.DataObject, graph: StreamGraph) -> None:
    count, streams = len(graph.names), len(graph.stream_source)
    labels = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    group_of = np.unique(labels, return_inverse=True)[1]
    weights = st.integers(0, 1000).map(float)
    load = np.array(data.draw(st.lists(weights, min_size=count, max_size=count)))
    traffic = np.array(data.draw(st.lists(weights, min_size=streams, max_size=streams)))
    grouping = Grouping(graph, group_of)
    quotient = grouping.quotient(load, traffic)
    expected: dict[tuple[int, int], float] = {}
    for a, b, weight in zip(graph.stream_source, graph.stream_target, traffic, strict=True):
        pair = int(group_of[a]), int(group_of[b])
        if pair[0] != pair[1]:
            expected[pair] = expected.get(pair, 0) + weight
    ends = list(zip(quotient.source.tolist(), quotient.target.tolist(), strict=True))
    assert ends == sorted(expected)
    assert quotient.traffic.tolist() == [expected[pair] for pair in ends]
    assert quotient.load.tolist() == [load[group_of == g].sum() for g in range(grouping.count)]


def test_expand_rows_and_tables() -> None:
    grouping = Grouping(CHAIN, np.array([1, 0, 1, 2], np.uint8))
    assert grouping.count == 3
    assert grouping.expand([7, 8, 9]).tolist() == [8, 7, 8, 9]
    assert grouping.expand(np.eye(3)).shape == (4, 3)
    assert repr(grouping) == "<Grouping: 4 operators in 3 groups>"


@pytest.mark.parametrize(
    ("group_of", "message"),
    [
        ([0, 0, 0], "groups: expected a whole number for each of 4 operators"),
        ([[0, 0, 0, 0]], "groups: expected a whole number for each of 4 operators"),
        ([0.0, 0.0, 0.0, 0.0], "groups: expected a whole number for each of 4 operators"),
        ([0, -1, 0, 0], "groups: must be numbered 0, 1"),
        ([0, 0, 2, 2], "groups: must be numbered 0, 1"),
        ([1, 1, 1, 1], "groups: must be numbered 0, 1"),
    ],
)
def test_invalid_groupings_are_refused(group_of: list[Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Grouping(CHAIN, group_of)


def test_weights_may_be_lists() -> None:
    grouping = Grouping(CHAIN, [0] * len(CHAIN.names))
    load, traffic = [2.0] * len(CHAIN.names), [1] * len(CHAIN.stream_source)
    assert grouping.quotient(load, traffic).load.tolist() == [sum(load)]


@pytest.mark.parametrize("wrong", [[1.0], 1.0, ["x"] * len(CHAIN.names), None])
def test_weights_are_a_number_each(wrong: Any) -> None:
    grouping = Grouping(CHAIN, [0] * len(CHAIN.names))
    with pytest.raises(ProblemError, match="load: expected a number for each of"):
        grouping.quotient(wrong, np.ones(len(CHAIN.stream_source)))
    with pytest.raises(ProblemError, match="traffic: expected a number for each of"):
        grouping.quotient(np.ones(len(CHAIN.names)), [*np.ones(len(CHAIN.stream_source)), 1.0])


def partition_of(grouping: Grouping) -> set[frozenset[int]]:
    members = [np.flatnonzero(grouping.group_of == g).tolist() for g in range(grouping.count)]
    return {frozenset(one) for one in members}


@given(graphs())
def test_groups_are_the_chains(graph: StreamGraph) -> None:
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    expected = chains(len(graph.names), ends)
    assert partition_of(chain_groups(graph)) == {frozenset(one) for one in expected}


@given(graphs())
def test_groups_are_numbered_along_the_graph_without_cycles(graph: StreamGraph) -> None:
    grouping = chain_groups(graph)
    first = [graph.order.tolist().index(v) for v in range(len(graph.names))]
    begins = [min(np.array(first)[grouping.group_of == g]) for g in range(grouping.count)]
    assert begins == sorted(begins)
    ones = np.ones(len(graph.names)), np.ones(len(graph.stream_source))
    quotient = grouping.quotient(*ones)
    assert np.all(quotient.source < quotient.target) or is_acyclic(quotient.source, quotient.target)


def is_acyclic(source: np.ndarray, target: np.ndarray) -> bool:
    edges = set(zip(source.tolist(), target.tolist(), strict=True))
    while edges:
        ends = {b for _, b in edges}
        kept = {(a, b) for a, b in edges if a in ends}
        if kept == edges:
            return False
        edges = kept
    return True


def test_a_chain_is_one_group() -> None:
    graph = chain_graph(1e5, 2e5, 3e5)
    assert chain_links(graph).tolist() == [[0, 1], [1, 2]]
    assert chain_groups(graph).count == 1


def test_a_chain_is_divided_where_no_device_may_run_both_parts() -> None:
    graph = chain_graph(1e5, 2e5, 3e5, 4e5)
    cluster = Cluster.equal(2)
    names, devices = graph.names, cluster.names
    pinned = Constraints(pins={names[0]: devices[0], names[2]: devices[1]})
    problem = Problem(graph, cluster, constraints=pinned)
    assert feasible_chain_groups(problem).group_of.tolist() == [0, 0, 1, 1]


def test_a_chain_is_divided_where_constraints_keep_its_parts_apart() -> None:
    graph = chain_graph(1e5, 2e5, 3e5, 4e5)
    a, _, c, d = graph.names
    for rules in (Constraints(exlocate=[[a, c]]), Constraints(apart_groups=[[d, c], [a, c]])):
        problem = Problem(graph, Cluster.equal(4), constraints=rules)
        expected = [0, 0, 1, 1] if rules.exlocate else [0, 0, 1, 2]
        assert feasible_chain_groups(problem).group_of.tolist() == expected


def test_without_chains_only_colocated_operators_are_joined() -> None:
    graph = preset_graph("layered", 9, 0)
    together = Constraints(colocate=[[graph.names[0], graph.names[4]]])
    problem = Problem(graph, Cluster.equal(2), source_rate=1e4, constraints=together)
    grouping = feasible_chain_groups(problem, chains=False)
    assert grouping.count == 8
    assert grouping.group_of[0] == grouping.group_of[4]


@given(constrained_problems())
def test_every_group_has_a_device(problem: Problem | None) -> None:
    if problem is None:
        return
    feasibility, grouping = problem.feasibility, feasible_chain_groups(problem)
    for g in range(grouping.count):
        units = set(feasibility.unit_of[grouping.group_of == g].tolist())
        assert feasibility.allowed[sorted(units)].all(axis=0).any()
        assert all(
            len(units & {*apart}) < 2 for apart in (*feasibility.excluding, *feasibility.separating)
        )
    for unit in range(feasibility.unit_count):
        assert len(set(grouping.group_of[feasibility.unit_of == unit].tolist())) == 1
