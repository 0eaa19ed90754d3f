"""Random problems for list schedulers, and the rules that their schedules obey."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.makespan.compiled_pass import CompiledPass
from streamplace.sim.schedule.lists import ListSchedule
from tests.support.schedule_tasks import TaskProblem, task_problem

SEEDS = range(150)


def problems() -> Iterator[TaskProblem]:
    """Yield random problems, in which every operator is on a device that it may use."""
    for seed in SEEDS:
        problem = task_problem(schedule_problem(seed, large=seed % 15 == 0))
        if problem.rules.allowed[np.arange(len(problem.devices)), problem.devices].all():
            yield problem


def check(problem: TaskProblem | CompiledPass, schedule: ListSchedule) -> None:
    """Check that a schedule keeps to cores, rests, inputs and masks."""
    tasks, rules, on = problem.tasks, problem.rules, schedule.devices
    rows = np.arange(tasks.operators)
    assert rules.allowed[rules.row_of[rules.unit_of], on].all()
    seconds = tasks.seconds[rows, tasks.class_of[on]]
    assert schedule.end - schedule.start == pytest.approx(seconds, abs=1e-12)
    for e, (v, w) in enumerate(zip(tasks.source, tasks.target, strict=True)):
        delay = 0.0
        if on[v] != on[w] and not tasks.silent[e]:
            link = on[v] * tasks.devices + on[w] if len(tasks.rate) > 1 else 0
            delay = tasks.bits[e] / tasks.rate[link] + tasks.latency_s[link]
        assert schedule.start[w] >= schedule.end[v] + delay - 1e-9
    for d in range(tasks.devices):
        here = np.flatnonzero((on == d) & (schedule.end > schedule.start))
        rested = schedule.end[here] + tasks.startup_s[d]
        for moment in schedule.start[here]:
            running = (schedule.start[here] <= moment) & (rested > moment + 1e-12)
            cores = np.minimum(tasks.cores[here[running]], tasks.device_cores[d])
            assert cores.sum() <= tasks.device_cores[d]
