"""The CP-SAT model of a pass, compared with brute force over placements and orders."""

from collections.abc import Iterable
from math import prod

import numpy as np
import pytest

from streamplace.makespan.placers.cp_sat import ScheduleModel
from streamplace.placers.exact.solver import RUNS
from tests.support.any_order import shortest_in_any_order
from tests.support.free_schedules import free_form
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import TaskProblem, task_problem
from tests.support.share import Share

MOST_OPERATORS, MOST_PLACEMENTS = 6, 100
MULTICASTS = ("none", "device", "all")


def small_problem(seed: int, multicast: str) -> TaskProblem | None:
    """Return a problem in which every operator takes time; None if it is too large."""
    form = free_form(seed, multicast)
    for operator in form["graph"]["operators"]:
        operator["instructions"] = operator.get("instructions") or 3e6
        operator["seconds_on"] = {k: s or 0.5 for k, s in operator.get("seconds_on", {}).items()}
        operator.pop("memory_bytes", None)
    problem = task_problem(form)
    placements = prod(int(row.sum()) for row in problem.rules.allowed)
    if np.any(problem.tasks.measured_s == 0.0):  # such as an operator without input tuples
        return None
    if not 2 <= problem.tasks.operators <= MOST_OPERATORS or placements > MOST_PLACEMENTS:
        return None
    return problem


def proven(problem: TaskProblem, limit: float) -> float:
    """Return the bound of CP-SAT with a limit on the makespan."""
    alike = np.full(problem.tasks.devices, -1, np.int32)
    model = ScheduleModel(problem.tasks, problem.rules, alike, limit, RUNS[0])
    return model.solve(20.0, 1, 0, None).bound


def check(seeds: Iterable[int], multicast: str) -> int:
    """Compare bounds with brute force; return the number of problems with messages."""
    tried = 0
    for seed in seeds:
        problem = small_problem(seed, multicast)
        if problem is None:
            continue
        choices = [np.flatnonzero(row).tolist() for row in problem.rules.allowed]
        expected = shortest_in_any_order(problem.tasks, choices, problem.rules.unit_of)
        bound = proven(problem, 1.5 * expected)
        assert bound <= expected * (1 + 1e-9), (seed, multicast)
        if multicast != "all":
            assert bound == pytest.approx(expected, rel=1e-7), (seed, multicast)
        tried += not problem.tasks.silent.all()
    return tried


@pytest.mark.parametrize("multicast", MULTICASTS)
def test_the_bound_is_the_optimum_in_any_order(multicast: str) -> None:
    """Under `all`, it is a bound only."""
    assert check(range(80), multicast) > 10


@pytest.mark.long
@pytest.mark.parametrize("multicast", MULTICASTS)
def test_the_bounds_of_many_problems_are_optima_in_any_order(multicast: str, share: Share) -> None:
    assert check(share.of(range(80, 2500)), multicast) > share.least(300)


@pytest.mark.parametrize(("multicast", "expected"), [("none", 7.0), ("device", 9.0), ("all", 9.0)])
def test_shared_messages_have_the_size_of_the_largest_stream(
    multicast: str, expected: float
) -> None:
    """From d0, streams of 1 s and 3 s go to d1, and one of 0.5 s to d2; labels pin operators."""
    form = schedule_form("a:1 b:4 c:1 e:5.5", "a>b:1 a>c:3 a>e:0.5", devices=3, multicast=multicast)
    for device, label in zip(form["cluster"]["devices"], "xyz", strict=True):
        device["labels"] = [label]
    for operator, label in zip(form["graph"]["operators"], "xyyz", strict=True):
        operator["requires"] = [label]
    assert proven(task_problem(form), 20.0) == pytest.approx(expected)
