"""Differences between placements of which at least one has a makespan."""

from dataclasses import replace

import pytest

import streamplace as sp
from benchmarks.reference.schedule_placements import placement_of
from streamplace.errors import ProblemError
from streamplace.workflows.diff import diff
from tests.support.objectives import Net
from tests.support.schedule_cases import schedule_form

A = placement_of(**schedule_form("a:1 b:2", "a>b:1"))
B = sp.Placement(A.problem, [0, 1])
RATED = sp.Throughput.of(0.25)


def body(found: object) -> str:
    return str(found._view().body)  # type: ignore[attr-defined]


def test_values_are_makespans() -> None:
    found = diff(A, B)
    document = found.to_dict()
    assert document["makespan_s"] == [3.0, 4.0]
    assert "throughput" not in document
    assert found.headline == "1 move; makespan 3 -> 4 s, +1 (+33.3%)"
    with pytest.raises(ProblemError, match="makespans, not throughput"):
        _ = found.throughput
    assert "scored" not in body(found)


def test_different_settings_are_shown() -> None:
    aim = replace(A.problem.makespan_objective, batch=10)
    found = diff(A, sp.Placement(A.problem.with_objective(aim), [0, 1]))
    assert found.values == (3.0, 40.0)
    assert "scored under {} and under {}" in body(found)
    assert "makespan:batch=10" in body(found)


def test_the_second_objective_counts_if_one_is_a_makespan() -> None:
    graph = sp.StreamGraph(A.problem.graph.operators, A.problem.graph.streams)
    rated = sp.Problem(graph, sp.Cluster(A.problem.cluster.devices), objective=RATED)
    first, second = sp.Placement(rated, [0, 0]), sp.Placement(rated, [0, 1])
    timed = sp.Placement(rated.with_objective(sp.Makespan()), [0, 1])
    found = diff(first, timed)
    assert found.to_dict()["makespan_s"] == [3.0, found.values[1]]
    assert "both are scored under the second placement's objective" in body(found)
    back = diff(sp.Placement(timed.problem, [0, 0]), second)
    assert back.to_dict()["throughput"] == [0.25, 0.25]
    assert back.replaced == "makespan"
    assert diff(first, second).replaced is None


def test_a_custom_objective_compares_worth() -> None:
    graph = sp.StreamGraph([sp.Operator(name, 4e5, 1.0) for name in "ab"], source_rate=1000)
    problem = sp.Problem(graph, sp.Cluster.equal(2, mips=1000), objective=Net(price=100))
    one, two = (sp.Placement(problem, devices) for devices in ([0, 0], [0, 1]))
    assert diff(two, one).headline == "1 move; worth 800 -> 900 tuples/s, +100 (+12.5%)"
    assert sp.migrate(problem, two, max_moves=0).headline.endswith(", worth 800 -> 800 tuples/s")
    assert "'to', 'worth', 'gain'" in body(sp.explain(two))
