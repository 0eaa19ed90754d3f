"""The results of one found placement under objectives of each kind."""

from typing import ClassVar

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.total_cost import TotalCost
from streamplace.placers.base import Found
from streamplace.problem.objective import Objective
from streamplace.scoring.values import ValueScore
from streamplace.workflows.place import result_of
from streamplace.workflows.value_result import own_schedule_s
from tests.support.values import GRAPH, Bill


class Gain(Bill):
    """The same number, of which more is better."""

    higher_is_better: ClassVar[bool] = True


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


@pytest.mark.parametrize(
    ("higher", "own", "proven", "kept"),
    [
        (False, 2.0, 1.0, 2.0),
        (False, 2.0, 3.0, 3.0),
        (True, 2.0, 1.0, 1.0),
        (True, 2.0, 3.0, 2.0),
        (True, None, 3.0, 3.0),
        (False, 2.0, None, 2.0),
    ],
)
def test_the_tighter_of_two_bounds_is_kept(
    higher: bool, own: float | None, proven: float | None, kept: float
) -> None:
    """The one of the evaluator, or that of a placer: the lower one if more is better."""
    problem = sp.Problem(GRAPH, "3x1000", objective=Gain() if higher else Bill())
    placement = sp.Placement(problem, np.zeros(4, dtype=np.int32))
    assert ValueScore(placement, 2.0, own).with_bound(proven).bound == kept
