"""Randomised list schedules."""

import numpy as np

from streamplace.sim.schedule.sampled import sampled_schedules
from tests.support.list_schedules import check, problems
from tests.support.schedule_tasks import heft_rank


def test_sampled_schedules_are_possible_and_differ() -> None:
    state, different = np.array([11], np.uint64), 0
    for problem in problems():
        tasks, rules = problem.tasks, problem.rules
        drawn = sampled_schedules(tasks, rules, None, 5, state)
        different += len(np.unique(drawn.devices, axis=0)) > 1
        for k in range(5):
            check(problem, drawn.schedule(k))
        ranked = sampled_schedules(tasks, rules, heft_rank(tasks, rules), 1, state)
        check(problem, ranked.schedule(0))
    assert different > 50
