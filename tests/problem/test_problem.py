"""Problems: defaults from the graph, and errors."""

from typing import Any

import pytest

from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import throughput_evaluator

PINNED = Constraints(pins={"a": "d1"})
GRAPH = StreamGraph([Operator("a", 1, 1)], [], source_rate=7, constraints=PINNED)


def test_rate_and_constraints_default_to_those_of_the_graph() -> None:
    problem = Problem(GRAPH)
    assert (problem.source_rate, problem.constraints, problem.model) == (7.0, PINNED, "bottleneck")
    assert problem.cluster == Cluster.equal()
    assert not problem.feasibility.is_free
    assert (problem.source_rates, problem.target_utilisation) == ((7.0,), 1.0)
    assert repr(problem).endswith("at 7 tuples/s, bottleneck>")


def test_arguments_override_the_defaults_of_the_graph() -> None:
    problem = Problem(GRAPH, source_rate=9, constraints=Constraints(), model="path-average")
    assert (problem.source_rate, problem.model) == (9.0, "path-average")
    assert problem.feasibility.is_free


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source_rate": 0}, "^source_rate: must be"),
        ({"source_rate": float("inf")}, "^source_rate: must be"),
        ({"source_rate": []}, r"^source_rate: expected at least one rate \(got none\)"),
        ({"source_rate": [5, -1]}, r"^source_rate: must be .* \(got -1\)"),
        ({"target_utilisation": 0}, r"^target_utilisation: must be 1e-09 to 1 \(got 0\)"),
        ({"target_utilisation": -0.5}, "^target_utilisation: must be"),
        ({"target_utilisation": 1.1}, "^target_utilisation: must be"),
        ({"target_utilisation": float("nan")}, "^target_utilisation: must be"),
        ({"model": "magic"}, "^model: must be one of bottleneck, path-average, engine"),
        ({"constraints": Constraints(pins={"a": "x"})}, "unknown device 'x'"),
    ],
)
def test_invalid_problems_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(GRAPH, **options)


def test_several_source_rates() -> None:
    """Rates are distinct and decreasing; with backpressure only the highest can be worst."""
    problem = Problem(GRAPH, source_rate=[2, 9, 2, 5], model="path-average", target_utilisation=0.5)
    assert (problem.source_rate, problem.source_rates) == (9.0, (9.0, 5.0, 2.0))
    assert repr(problem).endswith("at 9, 5, 2 tuples/s, path-average, target utilisation 0.5>")
    cases = throughput_evaluator(problem).cases
    assert cases[0].objective == problem.objective
    assert [one.source_rate for one in cases] == [9.0, 5.0, 2.0]
    assert [one.source_rates for one in cases[1:]] == [(5.0,), (2.0,)]
    for one in cases[1:]:
        assert [each.objective for each in throughput_evaluator(one).cases] == [one.objective]
        assert one.feasibility is problem.feasibility
        assert (one.model, one.target_utilisation) == ("path-average", 0.5)
    under_backpressure = Problem(GRAPH, source_rate=(2, 9))
    [worst] = throughput_evaluator(under_backpressure).cases
    assert worst.source_rates == (9.0, 2.0)


WITHOUT_RATE = (
    "^source_rate: the graph has no source rate; "
    "set it with --source-rate, or source_rate= in Python$"
)


def test_a_missing_source_rate_is_reported() -> None:
    with pytest.raises(ProblemError, match=WITHOUT_RATE):
        Problem(StreamGraph([Operator("a", 1, 1)], []))
    with pytest.raises(ProblemError, match=r"; the source rate; .* set it with --source-rate"):
        Problem(StreamGraph([Operator("a", UNKNOWN, 1)], []))


def test_a_problem_is_immutable() -> None:
    problem = Problem(GRAPH, source_rate=5)
    with pytest.raises(AttributeError):
        problem.source_rate = 6  # type: ignore[misc]
