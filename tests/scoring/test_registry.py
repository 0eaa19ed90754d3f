"""Quantities of objectives of passes that have an evaluator of their own."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

import streamplace as sp
from streamplace.errors import ObjectiveError
from streamplace.makespan.total_cost import TotalCostEvaluator
from streamplace.placers.registry import placer_of
from streamplace.scoring.registry import evaluator
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng


@dataclass(frozen=True)
class Mine(sp.Makespan):
    """An objective that names its evaluator only."""

    evaluator: ClassVar[type | None] = TotalCostEvaluator


def test_placers_for_makespans_refuse_an_objective_with_its_own_evaluator() -> None:
    problem = sp.Problem(chain_graph(4), "2x2500", objective=Mine())
    assert isinstance(evaluator(problem), TotalCostEvaluator)
    with pytest.raises(
        ObjectiveError, match="'exact' supports only makespan, throughput and total cost, not Mine"
    ):
        sp.place(chain_graph(4), "2x2500", objective=Mine(), placer="exact")
    assert placer_of("climb")(problem, seeded_rng()).problem is problem


def test_what_is_compiled_anew_reaches_an_evaluator_that_is_in_use() -> None:
    problem = sp.Problem(chain_graph(4), "2x2500", source_rate=1000.0)
    held = evaluator(problem)
    assert evaluator(problem) is held
    problem.forget()
    assert evaluator(problem) is not held
