"""The enumeration of placements, compared with all placements."""

from collections.abc import Iterable
from itertools import product
from math import prod

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.flow import Ints
from streamplace.sim.schedule.exhaustive import enumeration, next_placements
from streamplace.sim.schedule.passes import makespans
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import TaskProblem, task_problem
from tests.support.share import Share

MOST = 2048  # placements


def nothing_alike(problem: TaskProblem) -> Ints:
    return np.full(problem.tasks.devices, -1, np.int32)


def enumerated(
    problem: TaskProblem, alike: Ints, limit: float = np.inf, size: int = 16, steps: int = 100
) -> Ints:
    """Return all placements of an enumeration whose limit does not change."""
    tree = enumeration(problem.tasks, problem.rules, alike)
    rows, found = np.empty((size, problem.tasks.operators), np.int32), []
    done = False
    while not done:
        count, done = next_placements(problem.tasks, problem.rules, tree, limit, rows, steps)
        found.append(rows[:count].copy())
    return np.concatenate(found)


def shortest_by_enumeration(problem: TaskProblem, alike: Ints) -> float:
    """Return the shortest makespan, with a limit that follows the best one."""
    tree = enumeration(problem.tasks, problem.rules, alike)
    rows, best = np.empty((8, problem.tasks.operators), np.int32), np.inf
    done = False
    while not done:
        count, done = next_placements(problem.tasks, problem.rules, tree, best, rows, 50)
        if count:
            found = makespans(problem.tasks, problem.order, rows[:count], limit=best)
            best = min(best, float(found.min()))
    return best


def check_optima(seeds: Iterable[int]) -> int:
    """Compare optima with brute force; return the number of problems."""
    tried = 0
    for seed in seeds:
        problem = task_problem(schedule_problem(seed))
        choices = [np.flatnonzero(row) for row in problem.rules.allowed]
        if prod(len(each) for each in choices) > MOST:
            continue
        every = np.array(list(product(*choices)), np.int32)
        expected = makespans(problem.tasks, problem.order, every).min()
        assert shortest_by_enumeration(problem, nothing_alike(problem)) == expected, seed
        tried += 1
    return tried


def test_optima_of_small_problems_under_all_options() -> None:
    assert check_optima(range(150)) > 60


@pytest.mark.long
def test_optima_of_many_problems(share: Share) -> None:
    assert check_optima(share.of(range(150, 3000))) > share.least(1000)


def test_without_a_limit_every_placement_is_found_once() -> None:
    problem = task_problem(schedule_form("a:1 b:2 c:3", "a>b:1 a>c:1", devices=3))
    rows = enumerated(problem, nothing_alike(problem), size=4, steps=3)
    assert len(rows) == len(np.unique(rows, axis=0)) == 27


def test_of_devices_that_are_alike_the_first_unused_one_is_tried() -> None:
    """There are 5 partitions of three operators into at most three sets."""
    problem = task_problem(schedule_form("a:1 b:2 c:3", "a>b:1 a>c:1", devices=3))
    rows = enumerated(problem, np.array([-1, 0, 1], np.int32))
    assert len(rows) == 5
    shortest = makespans(problem.tasks, problem.order, rows).min()
    assert shortest == shortest_by_enumeration(problem, nothing_alike(problem))


def test_a_limit_cuts_off_what_cannot_be_shorter() -> None:
    problem = task_problem(schedule_form("a:1 b:1 c:1 d:1", "a>b:1 b>c:1 c>d:1", devices=3))
    rows = enumerated(problem, nothing_alike(problem), limit=4.5)
    assert sorted(map(tuple, rows.tolist())) == [(d, d, d, d) for d in range(3)]


def test_a_pass_that_exceeds_its_limit_has_no_makespan() -> None:
    for order in ("fifo", "topological"):
        problem = task_problem(schedule_form("a:1 b:2", "a>b:1", order=order))
        rows = np.array([[0, 0], [0, 1]], np.int32)
        found = makespans(problem.tasks, problem.order, rows, limit=3.0)
        assert found.tolist() == [3.0, np.inf]
