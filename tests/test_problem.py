"""Problem: what it takes from its graph, and what it refuses."""

from typing import Any

import pytest

from streamplace.cluster import Cluster
from streamplace.constraints import Constraints
from streamplace.errors import ProblemError
from streamplace.graph import Operator, StreamGraph
from streamplace.problem import Problem

PINNED = Constraints(pins={"a": "d1"})
GRAPH = StreamGraph([Operator("a", 1, 1)], [], source_rate=7, constraints=PINNED)


def test_the_graph_has_rate_and_constraints() -> None:
    problem = Problem(GRAPH)
    assert (problem.source_rate, problem.constraints, problem.model) == (7.0, PINNED, "bottleneck")
    assert problem.cluster == Cluster.equal()
    assert not problem.feasibility.is_free
    assert repr(problem).endswith("at 7 tuples/s, bottleneck>")


def test_a_problem_may_say_otherwise() -> None:
    problem = Problem(GRAPH, source_rate=9, constraints=Constraints(), model="path-average")
    assert (problem.source_rate, problem.model) == (9.0, "path-average")
    assert problem.feasibility.is_free


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source_rate": 0}, "^source_rate: must be"),
        ({"source_rate": float("inf")}, "^source_rate: must be"),
        ({"model": "magic"}, "^model: must be one of bottleneck, path-average, engine"),
        ({"constraints": Constraints(pins={"a": "x"})}, "no device is called 'x'"),
    ],
)
def test_faults(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(GRAPH, **options)


def test_without_a_rate() -> None:
    with pytest.raises(ProblemError, match=r"^source_rate: the graph has none"):
        Problem(StreamGraph([Operator("a", 1, 1)], []))


def test_a_problem_stays_as_it_is() -> None:
    problem = Problem(GRAPH, source_rate=5)
    with pytest.raises(AttributeError):
        problem.source_rate = 6  # type: ignore[misc]
