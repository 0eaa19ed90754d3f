"""Lower bounds and annealing of makespans, compared with all placements."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.flow import Ints
from streamplace.sim.schedule.anneal import (
    Cooling,
    Shares,
    anneal_events,
    anneal_fifo,
    shape_of,
    walk_from,
)
from streamplace.sim.schedule.bounds import lower_bounds
from streamplace.sim.schedule.fifo import fifo_memory, serves
from streamplace.sim.schedule.moved_paths import paths_of
from streamplace.sim.schedule.passes import makespans
from streamplace.sim.schedule.state import FIFO, run_state
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import TaskProblem, task_problem
from tests.support.share import Share

SHARES = Shares(swaps=0.1, blocks=0.4, joins=0.7, critical=0.6)
MOST = 4096  # placements


def small_problems(seeds: Iterable[int]) -> list[tuple[int, TaskProblem, Ints]]:
    """Return problems of which all feasible placements, (K, V), can be tried."""
    found = []
    for seed in seeds:
        problem = task_problem(schedule_problem(seed))
        choices = [np.flatnonzero(row) for row in problem.rules.allowed]
        if np.prod([float(len(each)) for each in choices]) <= MOST:
            rows = np.array(list(product(*choices)), np.int32)
            found.append((seed, problem, rows))
    return found


def check_optima(seeds: Iterable[int]) -> None:
    for seed, problem, rows in small_problems(seeds):
        tasks, rules = problem.tasks, problem.rules
        shortest = makespans(tasks, problem.order, rows).min()
        bounds = lower_bounds(tasks, rules.allowed, rules.row_of)
        assert bounds.best <= shortest * (1 + 1e-9), seed


def test_no_placement_beats_the_bounds() -> None:
    check_optima(range(300))


@pytest.mark.long
def test_no_placement_beats_the_bounds_of_many_problems(share: Share) -> None:
    check_optima(share.of(range(300, 4000)))


def bounds_of(operators: str, streams: str = "", **options: Any) -> tuple[float, float]:
    """Return the path bound and the work bound of a short description; see `schedule_form`."""
    problem = task_problem(schedule_form(operators, streams, **options))
    return lower_bounds(problem.tasks, problem.rules.allowed, problem.rules.row_of)


def test_the_path_bound_of_a_chain_weighs_faster_devices_against_transfers() -> None:
    """Device 1 takes half the time of device 0; a message takes 1 s per unit."""
    devices = [{"mips": 1}, {"mips": 2}]
    assert bounds_of("a:4 b:2", "a>b:1", devices=devices)[0] == 3.0


def test_the_work_bound_splits_independent_work() -> None:
    assert bounds_of("a:4 b:2 c:3")[1] == pytest.approx(9 / 2)


def test_annealing_finds_the_shortest_placements() -> None:
    """Within a few thousand evaluations it finds nearly all optima of small problems."""
    missed, count = 0, 0
    for seed, problem, rows in small_problems(range(120)):
        tasks, rules, order = problem.tasks, problem.rules, problem.order
        columns, state = tasks.columns, np.array([seed + 1], np.uint64)
        cooling = Cooling(3000, 0.2, 0.002, SHARES)
        best = np.empty(tasks.operators, np.int32)
        shape = shape_of(rules, tasks.source, tasks.target)
        start = rows[len(rows) // 2]
        if order.kind == FIFO and serves(columns):
            memory = fifo_memory(columns)
            walk = walk_from(rules, start)
            found, _ = anneal_fifo(
                columns, rules, shape, cooling, 0.0, walk, best, memory, paths_of(tasks), state
            )
        else:
            walk, run = walk_from(rules, start), run_state(columns)
            found, _ = anneal_events(
                columns, order, rules, shape, cooling, 0.0, walk, best, run, paths_of(tasks), state
            )
        assert makespans(tasks, order, best[None]).tolist() == [found]
        assert rules.allowed[np.arange(tasks.operators), best].all()
        shortest = makespans(tasks, order, rows).min()
        assert found >= shortest
        missed += found > shortest * (1 + 1e-9)
        count += 1
    assert count > 40
    assert missed <= 0.05 * count
