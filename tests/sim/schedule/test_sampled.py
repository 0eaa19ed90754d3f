"""Randomised list schedules."""

import numpy as np

from streamplace.sim.schedule.passes import timetable
from streamplace.sim.schedule.sampled import sampled_placements
from streamplace.sim.schedule.state import RANKED, Order
from tests.support.list_schedules import problems
from tests.support.schedule_tasks import heft_rank


def test_sampled_placements_obey_the_rules_and_differ() -> None:
    state = np.array([11], np.uint64)
    for problem in problems():
        tasks, rules = problem.tasks, problem.rules
        rows, lengths = sampled_placements(tasks, rules, None, 5, state)
        assert rules.allowed[np.arange(tasks.operators), rows].all()
        assert np.isfinite(lengths).all()
        ranked, _ = sampled_placements(tasks, rules, heft_rank(tasks, rules), 1, state)
        found = timetable(tasks, Order(RANKED, rules.row_of, rules.row_of), ranked[0])
        assert found.makespan >= found.start.max()
