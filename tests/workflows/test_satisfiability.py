"""Whether any placement obeys the rules, compared with brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given

from streamplace import Cluster, Device, Operator, StreamGraph
from streamplace.errors import InfeasibleError
from streamplace.placers.budget import Budget
from streamplace.problem.problem import Problem
from streamplace.workflows import conflict as conflicts
from streamplace.workflows.conflict import satisfiable
from tests.support.strategies import constrained_problems


@given(constrained_problems())
def test_the_answer_agrees_with_brute_force(problem: Problem | None) -> None:
    assume(problem is not None)
    assert problem is not None
    every = product(range(3), repeat=len(problem.graph.names))
    rules = problem.feasibility
    exists = any(rules.violation(np.array(row, np.int32)) is None for row in every)
    assert satisfiable(problem, Budget(10.0)) is exists


def packing(sizes: list[int], room: int, devices: int) -> Problem:
    rows = [Operator(f"o{i}", 1, 0, memory_bytes=size) for i, size in enumerate(sizes)]
    cluster = Cluster([Device(f"d{i}", 1, memory_bytes=room) for i in range(devices)])
    return Problem(StreamGraph(rows, source_rate=1), cluster)


HARD = packing([51] * 11 + [3] * 12, 100, 10)  # eleven halves do not fit, whatever the rest does


def test_a_packing_that_plain_backtracking_does_not_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    assert satisfiable(HARD, Budget(60.0)) is False
    monkeypatch.setattr(conflicts, "NODES", 0)
    assert satisfiable(HARD, Budget(60.0)) is False  # by CP-SAT
    assert satisfiable(HARD, Budget(0.0)) is None


def test_a_packing_that_plain_backtracking_does_not_find(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = packing([51] * 10 + [49] * 10, 100, 10)
    monkeypatch.setattr(conflicts, "STEPS", 1)
    assert satisfiable(problem, Budget(60.0)) is True


def test_problems_without_rules_have_placements() -> None:
    assert satisfiable(packing([0, 0], 1, 1), Budget(0.0)) is True
    with pytest.raises(InfeasibleError):
        packing([2], 1, 1)
