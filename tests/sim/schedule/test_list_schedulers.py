"""List schedulers: their own schedules are possible, and they obey the rules."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from sim.schedule.contention import contention_schedule
from sim.schedule.lists import ListSchedule, list_schedule
from sim.schedule.passes import timetable
from sim.schedule.ranks import optimistic_costs
from sim.schedule.sampled import sampled_placements
from sim.schedule.state import RANKED, Order
from sim.schedule.task_graph import FREE
from tests.support.schedule_tasks import TaskProblem, heft_rank, task_problem

SEEDS = range(150)


def problems() -> Iterator[TaskProblem]:
    """Yield random problems, in which every operator is on a device that it may use."""
    for seed in SEEDS:
        problem = task_problem(schedule_problem(seed, large=seed % 15 == 0))
        if problem.rules.allowed[np.arange(len(problem.devices)), problem.devices].all():
            yield problem


def check(problem: TaskProblem, schedule: ListSchedule) -> None:
    """Check that a schedule keeps to cores, rests, inputs and masks."""
    tasks, on = problem.tasks, schedule.devices
    rows = np.arange(tasks.operators)
    assert problem.rules.allowed[rows, on].all()
    seconds = tasks.seconds[rows, tasks.class_of[on]]
    assert schedule.end - schedule.start == pytest.approx(seconds, abs=1e-12)
    for e, (v, w) in enumerate(zip(tasks.source, tasks.target, strict=True)):
        delay = 0.0
        if on[v] != on[w] and not tasks.silent[e]:
            link = on[v] * tasks.devices + on[w]
            delay = tasks.bits[e] / tasks.rate[link] + tasks.latency_s[link]
        assert schedule.start[w] >= schedule.end[v] + delay - 1e-9
    for d in range(tasks.devices):
        here = np.flatnonzero((on == d) & (schedule.end > schedule.start))
        rested = schedule.end[here] + tasks.startup_s[d]
        for moment in schedule.start[here]:
            running = (schedule.start[here] <= moment) & (rested > moment + 1e-12)
            cores = np.minimum(tasks.cores[here[running]], tasks.device_cores[d])
            assert cores.sum() <= tasks.device_cores[d]


def test_schedules_of_heft_and_peft_are_possible() -> None:
    for problem in problems():
        tasks, rules = problem.tasks, problem.rules
        ahead = optimistic_costs(tasks, rules.allowed, rules.row_of)
        for schedule in (
            list_schedule(tasks, rules, heft_rank(tasks, rules)),
            list_schedule(tasks, rules, np.where(rules.allowed, ahead, 0).sum(axis=1), ahead),
            contention_schedule(tasks, rules, heft_rank(tasks, rules)),
        ):
            assert schedule.is_feasible
            check(problem, schedule)


def test_a_gap_is_used() -> None:
    """An operator that fits between two others is inserted there."""
    form = schedule_problem(0)
    form["graph"] = {
        "operators": [
            {"name": n, "instructions": s * 1_000_000}
            for n, s in zip("abc", (1, 3, 1), strict=True)
        ],
        "streams": [{"source": "a", "target": "b", "payload_bytes": 4_000_000}],
        "firing": "all",
    }
    form["cluster"] = {
        "devices": [{"name": "x", "mips": 1}],
        "network": {"kind": "free", "bandwidth_mbps": 8, "latency_s": 0},
    }
    form["settings"] = {"order": "fifo"}
    form["placement"] = dict.fromkeys("abc", "x")
    problem = task_problem(form)
    schedule = list_schedule(problem.tasks, problem.rules, np.array([3.0, 2.0, 1.0]))
    assert schedule.start.tolist() == [0.0, 1.0, 4.0]


def test_contention_alone_is_heft_where_links_are_free() -> None:
    for problem in problems():
        if problem.tasks.network == FREE:
            rank = heft_rank(problem.tasks, problem.rules)
            one = list_schedule(problem.tasks, problem.rules, rank)
            other = contention_schedule(problem.tasks, problem.rules, rank)
            assert one.devices.tolist() == other.devices.tolist()
            assert one.start.tolist() == other.start.tolist()


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
