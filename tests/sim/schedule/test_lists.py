"""List schedulers: their own schedules are possible, and they obey the rules."""

import numpy as np

from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.problem.constraints import Constraints
from streamplace.sim.schedule.contention import contention_schedule
from streamplace.sim.schedule.lists import core_timelines, list_schedule
from streamplace.sim.schedule.ranks import optimistic_costs
from streamplace.sim.schedule.task_graph import FREE
from tests.support.list_schedules import check, problems
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import heft_rank, task_problem


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


def test_operators_need_not_wait_on_a_device_of_many_cores() -> None:
    """Only as many of its cores have timelines as all operators use together, here six."""
    form = schedule_problem(0)
    form["graph"] = {
        "operators": [
            {"name": n, "instructions": 6_000_000, "cores": cores}
            for n, cores in zip("abc", (1, 2, 3), strict=True)
        ],
        "streams": [],
        "firing": "all",
    }
    form["cluster"] = {
        "devices": [{"name": "x", "mips": 1, "cores": 1_000_000}],
        "network": {"kind": "free", "bandwidth_mbps": 8, "latency_s": 0},
    }
    form["settings"] = {"order": "fifo"}
    form["placement"] = dict.fromkeys("abc", "x")
    problem = task_problem(form)
    for scheduler in (list_schedule, contention_schedule):
        schedule = scheduler(problem.tasks, problem.rules, np.array([3.0, 2.0, 1.0]))
        assert schedule.start.tolist() == [0.0, 0.0, 0.0]
        assert schedule.end.tolist() == [6.0, 3.0, 2.0]
    first_core, _ = core_timelines(problem.tasks)
    assert first_core.tolist() == [0, 6]


def test_an_operator_of_one_core_starts_on_the_core_that_is_free_first() -> None:
    problem = task_problem(schedule_form("a:3 b:1 c:1", devices=[{"cores": 2}]))
    schedule = list_schedule(problem.tasks, problem.rules, np.array([3.0, 2.0, 1.0]))
    assert schedule.start.tolist() == [0.0, 0.0, 1.0]


def test_operators_that_must_be_apart_are_even_if_their_message_takes_long() -> None:
    problem = placement_of(**schedule_form("a:1 b:1", "a>b:9", devices=2)).problem
    for rules, devices in ((None, [0, 0]), (Constraints(exlocate=[["a", "b"]]), [0, 1])):
        compiled = compiled_pass(problem.with_constraints(rules or Constraints()))
        schedule = list_schedule(compiled.tasks, compiled.rules, np.array([2.0, 1.0]))
        assert (schedule.devices.tolist(), schedule.is_feasible) == (devices, True)


def test_contention_alone_is_heft_where_links_are_free() -> None:
    for problem in problems():
        if problem.tasks.network == FREE:
            rank = heft_rank(problem.tasks, problem.rules)
            one = list_schedule(problem.tasks, problem.rules, rank)
            other = contention_schedule(problem.tasks, problem.rules, rank)
            assert one.devices.tolist() == other.devices.tolist()
            assert one.start.tolist() == other.start.tolist()
