"""Co-location coarsening against a plain implementation, and under constraints."""

import numpy as np
from hypothesis import given

from benchmarks.reference.graph_parsing import chains
from benchmarks.reference.strategies import graphs
from streamplace import Cluster, Constraints, Problem
from streamplace.problem.chains import chain_groups, chain_links, feasible_chain_groups
from streamplace.problem.graph import StreamGraph
from streamplace.problem.grouping import Grouping
from tests.support.graphs import chain_graph, preset_graph
from tests.support.strategies import constrained_problems


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
    rules, grouping = problem.feasibility, feasible_chain_groups(problem)
    for g in range(grouping.count):
        units = set(rules.unit_of[grouping.group_of == g].tolist())
        assert rules.allowed[sorted(units)].all(axis=0).any()
        assert all(len(units & {*apart}) < 2 for apart in (*rules.excluding, *rules.separating))
    for unit in range(rules.unit_count):
        assert len(set(grouping.group_of[rules.unit_of == unit].tolist())) == 1
