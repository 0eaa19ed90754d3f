"""The conformance check of objectives: what passes, and defects."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import streamplace as sp
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator
from streamplace.testing import check_objective


def test_throughput_passes() -> None:
    check_objective("throughput")


class RankedEvaluator(ObjectiveEvaluator):
    """Let the worth of a placement depend on the best one of the call."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        return throughput * throughput / throughput.max()


class GenerousEvaluator(ObjectiveEvaluator):
    """Return more than the throughput."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        return throughput + 1.0


@dataclass(frozen=True)
class Ranked(sp.Throughput):
    evaluator: ClassVar[type] = RankedEvaluator


@dataclass(frozen=True)
class Generous(sp.Throughput):
    evaluator: ClassVar[type] = GenerousEvaluator


@pytest.mark.parametrize(
    ("objective", "fault"),
    [
        (Ranked(), "the worth of a placement depends on other placements of the same call"),
        (Generous(), "its evaluator "),
        ("nothing", "unknown objective"),
    ],
)
def test_defects_of_objectives_are_named(objective: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_objective(objective)
    assert len(str(caught.value).splitlines()) == 1


def test_objectives_without_rates_are_checked_too() -> None:
    check_objective("makespan")
    check_objective("total-cost")
