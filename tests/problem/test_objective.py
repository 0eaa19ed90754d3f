"""Objectives: checks, defaults, and what a problem keeps when its objective changes."""

from math import nan
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import ProblemError
from streamplace.problem.objective import Throughput

GRAPH = sp.StreamGraph([("a", 1, 1), ("b", 1, 1)], [("a", "b")], source_rate=7)


def test_rates_are_distinct_and_in_decreasing_order() -> None:
    assert Throughput.of([2, 9, 2, 5]).source_rates == (9.0, 5.0, 2.0)
    assert Throughput.of(3).source_rates == (3.0,)
    assert Throughput.of(iter([1, 2])).source_rate == 2.0
    assert Throughput.of().source_rates is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source_rate": 0}, "source_rate: must be 1e-09 to 1e+15 (got 0)"),
        ({"source_rate": nan}, "source_rate: must be 1e-09 to 1e+15 (got nan)"),
        ({"source_rate": "2e4"}, "source_rate: must be a number (got '2e4')"),
        ({"source_rate": [1, True]}, "source_rate: must be a number (got True)"),
        ({"source_rate": []}, "source_rate: expected at least one rate (got none)"),
        ({"model": "bottelneck"}, "model: must be one of bottleneck, path-average, engine"),
        ({"target_utilisation": 0}, "target_utilisation: must be 1e-09 to 1 (got 0)"),
        ({"target_utilisation": 1.5}, "target_utilisation: must be 1e-09 to 1 (got 1.5)"),
        ({"target_utilisation": None, "model": 3}, "model: must be one of"),
    ],
)
def test_the_class_and_a_problem_make_the_same_checks(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError) as alone:
        Throughput.of(**values)
    with pytest.raises(ProblemError) as of_problem:
        sp.Problem(GRAPH, **values)
    assert str(alone.value) == str(of_problem.value)
    assert str(alone.value).startswith(message)


def test_a_problem_fills_in_the_rate_of_its_graph() -> None:
    assert sp.Problem(GRAPH).objective == Throughput.of(7)
    assert sp.Problem(GRAPH, objective=Throughput(model="engine")).source_rate == 7
    with pytest.raises(ProblemError, match="source_rate: the objective has no source rate"):
        _ = Throughput().source_rate


def test_an_objective_replaces_the_numbers() -> None:
    with pytest.raises(
        ProblemError, match="cannot combine objective with source_rate, model or target_utilisation"
    ):
        sp.Problem(GRAPH, source_rate=3, objective=Throughput.of(3))
    with pytest.raises(ProblemError, match=r"objective: must be an objective, not str; for"):
        sp.Problem(GRAPH, objective="throughput")  # type: ignore[arg-type]
    by_objective = sp.place(GRAPH, objective=Throughput.of(1e4, "path-average"), placer="metis")
    by_numbers = sp.place(GRAPH, source_rate=1e4, model="path-average", placer="metis")
    assert by_objective.score == by_numbers.score


def test_changing_one_part_of_a_problem_keeps_the_others() -> None:
    rules = sp.Constraints(pins={"a": "d1"})
    problem = sp.Problem(GRAPH, "2x2500", constraints=rules, target_utilisation=0.5)
    faster = problem.with_source_rate([20, 10])
    assert faster.feasibility is problem.feasibility
    assert faster.constraints is rules
    assert faster.objective == Throughput.of([10, 20], target_utilisation=0.5)
    assert problem.with_objective(Throughput.of(7, target_utilisation=0.5)) is problem
    moved = problem.with_cluster("3x100")
    assert (moved.objective, moved.constraints) == (problem.objective, rules)
    assert problem.with_constraints(sp.Constraints()).objective is problem.objective


def test_an_array_without_axes_is_one_rate() -> None:
    rate: Any = np.array(1e4)
    assert Throughput.of(rate) == Throughput.of(1e4)
    assert Throughput.of(2).with_changes(source_rate=rate) == Throughput.of(1e4)
    assert Throughput(rate) == Throughput.of(1e4)
    assert sp.place(GRAPH, source_rate=rate, placer="greedy").score.source_rate == 1e4
    with pytest.raises(ProblemError, match=r"source_rate: must be a number \(got 'x'\)"):
        Throughput.of(np.array("x"))
