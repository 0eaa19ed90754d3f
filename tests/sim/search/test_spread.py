"""Placements whose loads no move and no swap lowers."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import Case, cases
from sim.flow import Ints
from sim.search import SearchState, search_state, spread
from streamplace.placers.repair import feasible
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from tests.support.placements import some_placement_is_feasible
from tests.support.strategies import constrained_problems

SEEDS = st.integers(1, 2**31)
STEPS = 100_000
UNIT = 1 / 810.25  # loads that are simple fractions of the largest one are not between two units


def run(problem: Problem, on: Ints, seed: int, steps: int = STEPS) -> tuple[SearchState, int]:
    """Return the state after a search from a placement of units, and the changes that it tried."""
    instance = compiled(problem).instance
    now = search_state(instance, on)
    return now, spread(instance, now, np.array([seed], np.uint64), steps, UNIT)


def moves_and_swaps(on: Ints, devices: int) -> Iterator[Ints]:
    """Yield all placements that differ by the move of a unit, or by a swap of two."""
    for u, d in product(range(len(on)), range(devices)):
        yield np.array([*on[:u], d, *on[u + 1 :]], np.int32)
    for u, v in combinations(range(len(on)), 2):
        swapped = on.copy()
        swapped[[u, v]] = on[[v, u]]
        yield swapped


@given(cases(shared=True), SEEDS)
def test_no_move_or_swap_lowers_what_is_left(case: Case, seed: int) -> None:
    problem, devices = case
    instance, start = compiled(problem).instance, np.array(devices, np.int32)
    most = search_state(instance, start).load.max()
    now, tried = run(problem, start, seed)
    assert tried < STEPS
    found = search_state(instance, now.on).load
    assert np.allclose(now.load, found, rtol=1e-9, atol=1e-9 * most)
    assert found.max() <= most * (1.0 + 1e-9)
    shared = len(instance.capacity) + len(instance.gap_s)  # loads of operators follow
    for on in moves_and_swaps(now.on, len(instance.capacity)):
        load = search_state(instance, on).load
        may = bool(np.all((load <= found) | (load < most * (1.0 - 1e-9))))
        if most and may and problem.feasibility.violation(on) is None:
            assert not is_lower(load[:shared], found[:shared], UNIT * most)


def is_lower(mine: np.ndarray, other: np.ndarray, step: float) -> bool:
    """Return whether sorted loads in steps are lower where they first differ."""
    changes = [-np.sort(-np.rint(each / step)) for each in (mine, other)]
    unequal = np.flatnonzero(changes[0] != changes[1])
    return len(unequal) > 0 and bool(changes[0][unequal[0]] < changes[1][unequal[0]])


@given(constrained_problems(), SEEDS)
def test_constraints_hold(problem: Problem | None, seed: int) -> None:
    if problem is None or not some_placement_is_feasible(problem):
        return
    rules = problem.feasibility
    start = feasible(problem, np.zeros(len(problem.graph.names), dtype=np.int32)).devices
    now, _ = run(problem, start[rules.first_of], seed)
    assert rules.violation(now.on[rules.unit_of]) is None


@given(cases(shared=True), SEEDS, st.integers(0, 40))
def test_no_more_changes_are_tried_than_allowed(case: Case, seed: int, steps: int) -> None:
    problem, devices = case
    _, tried = run(problem, np.array(devices, np.int32), seed, steps)
    assert tried <= steps
