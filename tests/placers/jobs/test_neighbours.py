"""Moves of joint placements: all are feasible, and single moves are complete."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.rules import obeying
from benchmarks.reference.whole_problems import whole_problems
from streamplace import Problem
from streamplace.placers.jobs.improvement import double_moves, feasible_rows, single_moves
from streamplace.util.arrays import Ints


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
    assert feasible_rows(problem, rows).tolist() == wanted.tolist()


@given(whole_problems(), st.integers(0, 99))
def test_single_moves_are_all_feasible_ones_of_one_unit(problem: Problem, seed: int) -> None:
    on = some_rows(problem, seed, 1)[0]
    moves = joined(single_moves(problem, on, np.random.default_rng(seed)), on)
    wanted = set()
    for unit in range(len(on)):
        for device in range(len(problem.cluster.devices)):
            moved = on.copy()
            moved[unit] = device
            if device != on[unit] and feasible_rows(problem, moved[None, :])[0]:
                wanted.add(tuple(moved.tolist()))
    assert len(moves) == len(wanted)
    assert {tuple(row.tolist()) for row in moves} == wanted


@given(whole_problems(), st.integers(0, 99))
def test_double_moves_are_feasible_and_change_at_most_two_units(
    problem: Problem, seed: int
) -> None:
    on = some_rows(problem, seed, 1)[0]
    moves = joined(double_moves(problem, on, 300, np.random.default_rng(seed)), on)
    assert feasible_rows(problem, moves).all()
    changed = (moves != on).sum(axis=1)
    assert ((changed >= 1) & (changed <= 2)).all()
