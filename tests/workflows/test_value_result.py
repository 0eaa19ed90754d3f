"""The results of one found placement under objectives of each kind."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.total_cost import TotalCost
from streamplace.placers.base import Found
from streamplace.problem.objective import Objective
from streamplace.workflows.place import result_of
from streamplace.workflows.value_result import own_schedule_s
from tests.support.values import GRAPH, Bill


@pytest.mark.parametrize(
    ("objective", "name", "value"),
    [
        (sp.Throughput(), "Result", 100.0),
        (sp.Makespan(), "MakespanResult", None),
        (TotalCost(), "MakespanResult", 4e-3),
        (Bill(), "ValueResult", 2.0),
    ],
)
def test_results_of_each_kind(objective: Objective, name: str, value: float | None) -> None:
    problem = sp.Problem(GRAPH, "3x1000", objective=objective)
    found = Found(sp.Placement(problem, np.zeros(4, dtype=np.int32)))
    result = result_of(found, "mine", 0.5)
    assert (type(result).__name__, result.placer, result.seconds) == (name, "mine", 0.5)
    assert value is None or result.score.value == pytest.approx(value)
    assert result.gap == pytest.approx(0.0, abs=1e-3)
    assert result.placement.assignment == dict.fromkeys("abcd", "d0")


def test_most_placers_have_no_schedule_of_their_own() -> None:
    problem = sp.Problem(GRAPH, "3x1000", objective=sp.Makespan())
    assert own_schedule_s(Found(sp.Placement(problem, np.zeros(4, dtype=np.int32)))) is None
