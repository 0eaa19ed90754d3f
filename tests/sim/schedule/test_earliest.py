"""Schedules of earliest task first."""

import numpy as np

from streamplace.sim.schedule.earliest import earliest_schedule
from tests.support.list_schedules import check, problems
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import task_problem


def test_schedules_are_possible() -> None:
    for problem in problems():
        schedule = earliest_schedule(problem.tasks, problem.rules)
        assert schedule.is_feasible
        check(problem, schedule)


def test_cores_are_filled_one_by_one() -> None:
    problem = task_problem(schedule_form("a:3 b:1 c:1", devices=[{"cores": 2}]))
    schedule = earliest_schedule(problem.tasks, problem.rules)
    assert np.array([schedule.start, schedule.end]).T.tolist() == [[0, 3], [0, 1], [1, 2]]
