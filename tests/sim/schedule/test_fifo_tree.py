"""The enumeration in the order of time, compared with all placements."""

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from streamplace.sim.flow import Ints
from streamplace.sim.schedule.fifo_tree import fifo_tree, next_shorter, serves
from streamplace.sim.schedule.passes import makespans
from tests.support.free_schedules import free_form
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import TaskProblem, task_problem
from tests.support.share import Share

MOST = 4096  # placements


def free_problem(seed: int) -> TaskProblem:
    return task_problem(free_form(seed))


def nothing_alike(problem: TaskProblem) -> Ints:
    return np.full(problem.tasks.devices, -1, np.int32)


def enumerated(problem: TaskProblem, alike: Ints, limit: float = np.inf) -> Ints:
    """Return all placements of an enumeration whose limit does not change."""
    tree = fifo_tree(problem.tasks, problem.rules, alike)
    row, found, done = np.empty((1, problem.tasks.operators), np.int32), [], False
    while not done:
        count, done = next_shorter(problem.tasks, problem.rules, tree, limit, row, 7)
        found += [row[0].copy()] * count
    return np.array(found).reshape(-1, problem.tasks.operators)


def shortest(problem: TaskProblem, alike: Ints) -> float:
    """Return the shortest makespan, by a limit that follows the best placement."""
    tree = fifo_tree(problem.tasks, problem.rules, alike)
    row, best, done = np.empty((1, problem.tasks.operators), np.int32), np.inf, False
    while not done:
        count, done = next_shorter(problem.tasks, problem.rules, tree, best, row, 50)
        if count:
            made = float(makespans(problem.tasks, problem.order, row)[0])
            assert made < best
            best = made
    return best


def fits(problem: TaskProblem, row: Ints) -> bool:
    units = np.unique(problem.rules.unit_of, return_index=True)[1]
    used = np.zeros(problem.rules.room.shape)
    np.add.at(used, row[units], problem.rules.needs)
    return bool(np.all(used <= problem.rules.room))


def every_placement(problem: TaskProblem) -> Ints | None:
    """Return all feasible placements; None if there are too many."""
    choices = [np.flatnonzero(row) for row in problem.rules.allowed]
    if prod(len(each) for each in choices) > MOST:
        return None
    rows = np.array(list(product(*choices)), np.int32)[:, problem.rules.unit_of]
    feasible = [row for row in rows if fits(problem, row)]
    return np.array(feasible, np.int32).reshape(-1, problem.tasks.operators)


def check_optima(seeds: Iterable[int]) -> int:
    """Compare optima with brute force; return the number of problems."""
    tried = 0
    for seed in seeds:
        problem = free_problem(seed)
        assert serves(problem.tasks, (problem.order,))
        rows = every_placement(problem)
        if rows is None or not len(rows):
            continue
        expected = makespans(problem.tasks, problem.order, rows).min()
        assert shortest(problem, nothing_alike(problem)) == expected, seed
        tried += 1
    return tried


def test_optima_of_small_problems() -> None:
    assert check_optima(range(150)) > 60


@pytest.mark.long
def test_optima_of_many_problems(share: Share) -> None:
    assert check_optima(share.of(range(150, 4000))) > share.least(1500)


@pytest.mark.parametrize("seed", [2, 6, 8, 12, 15, 16, 18, 19, 20, 21, 23, 29])
def test_placements_below_a_limit_are_all_found_once(seed: int) -> None:
    """A limit at a tenth of all placements; the makespans below it are the same."""
    problem = free_problem(seed)
    rows = every_placement(problem)
    assert rows is not None
    made = np.sort(makespans(problem.tasks, problem.order, rows))
    limit = made[len(made) // 10]
    found = enumerated(problem, nothing_alike(problem), float(limit))
    assert len(np.unique(found, axis=0)) == len(found)
    if len(found):
        np.testing.assert_array_equal(
            np.sort(makespans(problem.tasks, problem.order, found)), made[made < limit]
        )
    assert len(found) == (made < limit).sum()


def test_of_devices_that_are_alike_the_first_unused_one_is_tried() -> None:
    """There are 5 partitions of three operators into at most three sets."""
    problem = task_problem(schedule_form("a:1 b:2 c:3", "a>b:1 a>c:1", devices=3))
    assert len(enumerated(problem, nothing_alike(problem))) == 27
    rows = enumerated(problem, np.array([-1, 0, 1], np.int32))
    assert len(rows) == 5
    least = makespans(problem.tasks, problem.order, rows).min()
    assert least == shortest(problem, nothing_alike(problem))


def test_each_bound_cuts_off() -> None:
    """Without one of them, there would be 2^18 partial placements or more."""
    cases: dict[str, tuple[str, str, dict[str, Any]]] = {
        "work": (" ".join(f"o{i}:{2 + i % 2}" for i in range(20)), "", {}),
        "path": (
            " ".join(f"o{i}:2" for i in range(20)),
            " ".join(f"o{i}>o{i + 1}:8" for i in range(19)),
            {},
        ),
        "queue": (
            "a:13 b:13 " + " ".join(f"o{i}:1" for i in range(18)),
            "",
            {"constraints": {"colocate": [["a", "b"]]}},
        ),
    }
    for name, (operators, streams, options) in cases.items():
        problem = task_problem(schedule_form(operators, streams, devices=2, **options))
        tree = fifo_tree(problem.tasks, problem.rules, nothing_alike(problem))
        row = np.empty((1, problem.tasks.operators), np.int32)
        limit = {"work": 24.9, "path": 40.0, "queue": 25.0}[name]
        assert next_shorter(problem.tasks, problem.rules, tree, limit, row, 50) == (0, True), name


@pytest.mark.parametrize("change", ["order", "network", "multicast", "barrier", "cores", "jobs"])
def test_passes_that_it_does_not_follow_are_not_served(change: str) -> None:
    options: dict[str, dict[str, Any]]
    options = {"order": {"order": "b-level"}, "barrier": {"barrier": True}}
    options["multicast"] = {"multicast": "device"}
    form = schedule_form("a:1 b:2", "a>b:1", **options.get(change, {}))
    if change == "network":
        form["cluster"]["network"]["kind"] = "pair"
    if change == "cores":
        form["cluster"]["devices"][0]["cores"] = 2
    if change == "jobs":
        form["cluster"]["network"]["overhead_s"] = 1
    problem = task_problem(form)
    assert not serves(problem.tasks, (problem.order,))
