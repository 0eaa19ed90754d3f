"""Placement of several jobs: moves, local search that never gets worse, and enumeration."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.rules import obeying
from benchmarks.reference.two_jobs import two_jobs
from benchmarks.reference.whole_problems import whole_problems
from streamplace import Cluster, Problem
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.jobs.joint import JointProblem
from streamplace.jobs.search import (
    Improvement,
    are_feasible,
    best_of_all,
    double_moves,
    is_small,
    single_moves,
)
from streamplace.placers.repair import feasible
from streamplace.util.arrays import Ints
from tests.support.jobs import competing_jobs


def some_rows(problem: Problem, seed: int, count: int) -> Ints:
    """Return random placements of units, (K, U), feasible or not."""
    shape = (count, problem.feasibility.unit_count)
    return np.random.default_rng(seed).integers(
        len(problem.cluster.devices), size=shape, dtype=np.int32
    )


def joined(chunks: Iterator[Ints], on: Ints) -> Ints:
    """Return all placements of some chunks, (K, U)."""
    return np.concatenate([np.empty((0, len(on)), dtype=np.int32), *chunks])


@given(whole_problems(), st.integers(0, 99))
def test_rows_are_feasible_as_by_the_reference(problem: Problem, seed: int) -> None:
    rows = some_rows(problem, seed, 50)
    wanted = obeying(problem, rows[:, problem.feasibility.unit_of])
    assert are_feasible(problem, rows).tolist() == wanted.tolist()


@given(whole_problems(), st.integers(0, 99))
def test_single_moves_are_all_feasible_ones_of_one_unit(problem: Problem, seed: int) -> None:
    on = some_rows(problem, seed, 1)[0]
    moves = joined(single_moves(problem, on, np.random.default_rng(seed)), on)
    wanted = set()
    for unit in range(len(on)):
        for device in range(len(problem.cluster.devices)):
            moved = on.copy()
            moved[unit] = device
            if device != on[unit] and are_feasible(problem, moved[None, :])[0]:
                wanted.add(tuple(moved.tolist()))
    assert len(moves) == len(wanted)
    assert {tuple(row.tolist()) for row in moves} == wanted


@given(whole_problems(), st.integers(0, 99))
def test_double_moves_are_feasible_and_change_at_most_two_units(
    problem: Problem, seed: int
) -> None:
    on = some_rows(problem, seed, 1)[0]
    moves = joined(double_moves(problem, on, 300, np.random.default_rng(seed)), on)
    assert are_feasible(problem, moves).all()
    changed = (moves != on).sum(axis=1)
    assert ((changed >= 1) & (changed <= 2)).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_result_is_feasible_and_no_worse_than_the_start(seed: int) -> None:
    try:
        joint = JointProblem(*two_jobs(seed))
        start = feasible(joint.union, np.zeros(len(joint.union.graph.names), np.int32)).devices
    except (InfeasibleError, PlacementError):
        return
    found = Improvement(300)(joint, start, np.random.default_rng(seed))
    assert joint.union.feasibility.violation(found) is None
    before, after = joint.worth(np.stack([start, found]))
    assert tuple(after) >= tuple(before)
    again = Improvement(300)(joint, start, np.random.default_rng(seed))
    assert (again == found).all()


def test_from_one_device_each_job_gets_its_own() -> None:
    joint = JointProblem(competing_jobs(), Cluster.equal(2))
    found = Improvement(1000)(joint, np.zeros(4, np.int32), np.random.default_rng(0))
    assert joint.carries_all(joint.worth(found[None, :])[0])


def test_without_choice_the_start_is_the_result() -> None:
    joint = JointProblem(competing_jobs(), Cluster.equal(1))
    start = np.zeros(4, np.int32)
    assert (Improvement(1000)(joint, start, np.random.default_rng(0)) == start).all()


@pytest.mark.parametrize("seed", range(10))
def test_enumeration_is_at_least_as_good(seed: int) -> None:
    try:
        joint = JointProblem(*two_jobs(seed))
    except InfeasibleError:
        return
    assert is_small(joint)
    best = best_of_all(joint)
    if best is None:
        return
    found = Improvement(300)(joint, best, np.random.default_rng(seed))
    assert (
        joint.worth(found[None, :])[0, :-1].tolist() == joint.worth(best[None, :])[0, :-1].tolist()
    )
