"""Constraints as arrays."""

import streamplace as sp
from streamplace.scoring.rules import rules_of
from tests.support.graphs import chain_graph


def test_constraints_as_arrays() -> None:
    rules = sp.Constraints(pins={"a": "d1"}, colocate=[["b", "c"]], exlocate=[["c", "d"]])
    graph, cluster = chain_graph(1.0, 1.0, 1.0, 1.0), sp.Cluster.equal(2)
    problem = sp.Problem(graph, cluster, constraints=rules)
    found = rules_of(problem.feasibility, cluster)
    a, b, c, d = found.unit_of.tolist()
    assert b == c
    assert len({a, b, d}) == len(found.row_of) == 3
    assert found.allowed[found.row_of[a]].tolist() == [False, True]
    assert found.allowed[found.row_of[b]].all()
    first = found.first_rival
    rivals = [found.rival[first[u] : first[u + 1]].tolist() for u in (a, b, d)]
    assert rivals == [[], [d], [b]]
    assert not found.far.any()
