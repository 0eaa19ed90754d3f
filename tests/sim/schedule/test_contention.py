"""List schedules that build a part of a placement anew."""

import numpy as np

from streamplace.sim.schedule.contention import (
    NO_WEIGHTS,
    Present,
    Weights,
    contention_schedule,
    no_schedule,
    schedule_part,
)
from streamplace.sim.schedule.lists import ListSchedule
from streamplace.util.arrays import Ints
from tests.support.list_schedules import check, problems
from tests.support.schedule_tasks import TaskProblem, heft_rank

SEED = 3


def part(
    problem: TaskProblem, present: Present, weights: Weights = NO_WEIGHTS
) -> tuple[ListSchedule, bool]:
    """Return the schedule of a part."""
    tasks, rules = problem.tasks, problem.rules
    memory = no_schedule(tasks, rules)
    rank = heft_rank(tasks, rules)
    feasible = schedule_part(tasks.columns, rules, rank, weights, present, memory)
    return ListSchedule(memory.devices, memory.start, memory.end, feasible), feasible


def kept(problem: TaskProblem, share: float, rng: np.random.Generator) -> Present:
    """Return the placement of a problem, of which a share of the units is kept."""
    units = len(problem.rules.row_of)
    return Present(problem.devices.astype(np.int32), rng.random(units) < share)


def test_units_that_are_kept_stay_and_the_schedule_is_possible() -> None:
    rng = np.random.default_rng(SEED)
    for problem in problems():
        present = kept(problem, 0.5, rng)
        schedule, feasible = part(problem, present, Weights(1.0, 1.0, np.zeros((0, 0))))
        stay = present.is_kept[problem.rules.unit_of]
        assert schedule.devices[stay].tolist() == problem.devices[stay].tolist()
        if feasible:
            check(problem, schedule)


def test_a_part_that_is_everything_is_heft_with_contention() -> None:
    for problem in problems():
        is_kept = np.zeros(len(problem.rules.row_of), np.bool_)
        schedule, _ = part(problem, Present(problem.devices.astype(np.int32), is_kept))
        rank = heft_rank(problem.tasks, problem.rules)
        expected = contention_schedule(problem.tasks, problem.rules, rank)
        assert schedule.devices.tolist() == expected.devices.tolist()
        assert schedule.start.tolist() == expected.start.tolist()


def test_the_memory_is_used_again_without_a_trace() -> None:
    rng = np.random.default_rng(SEED)
    for problem in problems():
        tasks, rules = problem.tasks, problem.rules
        memory, rank = no_schedule(tasks, rules), heft_rank(tasks, rules)
        first, other = kept(problem, 0.3, rng), kept(problem, 0.7, rng)
        for present in (first, other, first):
            schedule_part(tasks.columns, rules, rank, NO_WEIGHTS, present, memory)
        fresh, _ = part(problem, first)
        assert memory.devices.tolist() == fresh.devices.tolist()
        assert memory.end.tolist() == fresh.end.tolist()


def test_weights_keep_a_lone_operator_with_its_neighbours() -> None:
    """With a heavy weight on messages, an operator joins the device of most of its bytes."""
    for problem in problems():
        tasks, rules = problem.tasks, problem.rules
        v = int(np.argmax(tasks.inputs))
        if np.any(rules.first_rival[1:] > rules.first_rival[:-1]):
            continue
        is_kept = rules.unit_of[v] != np.arange(len(rules.row_of))
        present = Present(problem.devices.astype(np.int32), is_kept)
        light, _ = part(problem, present)
        heavy, _ = part(problem, present, Weights(0.0, 1e9, np.zeros((0, 0))))
        assert sent_s(problem, heavy.devices, v) <= sent_s(problem, light.devices, v) + 1e-9


def sent_s(problem: TaskProblem, devices: Ints, v: int) -> float:
    """Return the seconds of the messages that the unit of an operator sends to kept operators."""
    tasks, unit = problem.tasks, problem.rules.unit_of
    total = 0.0
    for e, (a, b) in enumerate(zip(tasks.source, tasks.target, strict=True)):
        if unit[a] != unit[v] or tasks.silent[e] or devices[a] == devices[b]:
            continue
        link = devices[a] * tasks.devices + devices[b]
        total += tasks.bits[e] / tasks.rate[link] + tasks.latency_s[link]
    return total
