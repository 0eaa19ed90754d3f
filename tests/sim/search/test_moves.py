"""Loads after moves, compared with loads computed from scratch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import Case, cases
from streamplace.placers.repair import feasible
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from streamplace.sim.jit import kernel
from streamplace.sim.search import Instance, Schedule, SearchState, anneal, search_state
from streamplace.sim.search.anneal_path_average import anneal_path_average
from streamplace.sim.search.moves import drawn, settle, try_move
from streamplace.sim.search.rng import Word
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Ints
from tests.support.placements import some_placement_is_feasible
from tests.support.strategies import constrained_problems

SEEDS = st.integers(1, 2**31)
PLAN = Schedule(steps=400, hot=0.2, cold=0.002, swaps=0.4, joins=0.25)


@kernel
def wander(instance: Instance, now: SearchState, state: Word, steps: int) -> int:
    """Make every valid move that is drawn, and return their number."""
    taken = 0
    for step in range(steps):
        trial = drawn(instance, now, state, step, 0.4, 0.3)
        if trial.b >= 0:
            try_move(instance, now, trial)
            settle(instance, now, trial)
            taken += 1
    return taken


def seeded(seed: int) -> Word:
    return np.array([seed], dtype=np.uint64)


def loads(problem: Problem, devices: Ints) -> np.ndarray:
    """Return the utilisations of devices, links and, if they are limited, units."""
    arrays, feasibility = flow(problem), problem.feasibility
    own = np.zeros(feasibility.unit_count if arrays.limits_operators else 0)
    if arrays.limits_operators:
        np.maximum.at(own, feasibility.unit_of, own_utilisations(arrays, devices))
    return np.concatenate([*utilisations(arrays, devices), own])


@given(cases(shared=True), SEEDS)
def test_loads_equal_those_computed_from_scratch(case: Case, seed: int) -> None:
    problem, devices = case
    instance = compiled(problem).instance
    now = search_state(instance, np.array(devices, dtype=np.int32))
    wander(instance, now, seeded(seed), 100)
    expected = loads(problem, now.on)
    assert np.allclose(now.load * instance.reference, expected, rtol=1e-9, atol=1e-9)


@given(cases(shared=True), SEEDS)
def test_annealing_reports_the_largest_load_of_its_best_placement(case: Case, seed: int) -> None:
    problem, devices = case
    instance, arrays = compiled(problem).instance, flow(problem)
    now = search_state(instance, np.array(devices, dtype=np.int32))
    top, done = anneal(instance, now, seeded(seed), PLAN, -1.0)
    assert done == PLAN.steps
    found, start = worst_utilisation(arrays, np.stack([now.best, np.array(devices, np.int32)]))
    assert np.isclose(top * instance.reference, found, rtol=1e-9)
    assert found <= start * (1 + 1e-9)


@given(cases("path-average", shared=True), SEEDS)
def test_annealing_reports_the_throughput_of_its_best_placement(case: Case, seed: int) -> None:
    problem, devices = case
    instance, arrays = compiled(problem).instance, flow(problem)
    now = search_state(instance, np.array(devices, dtype=np.int32))
    top, _ = anneal_path_average(
        instance, arrays.columns, arrays.sinks, now, seeded(seed), PLAN, 2.0
    )
    found, start = throughput(problem, np.stack([now.best, np.array(devices)]))
    assert np.isclose(top, found / problem.source_rate, rtol=1e-9)
    assert found >= start * (1 - 1e-9)


@given(constrained_problems(), SEEDS)
def test_no_change_breaks_a_constraint(problem: Problem | None, seed: int) -> None:
    if problem is None or not some_placement_is_feasible(problem):
        return
    feasibility, instance = problem.feasibility, compiled(problem).instance
    start = feasible(problem, np.zeros(len(problem.graph.names), dtype=np.int32)).devices
    now = search_state(instance, start[feasibility.first_of])
    state = seeded(seed)
    for _ in range(50):
        wander(instance, now, state, 3)
        assert feasibility.violation(now.on[feasibility.unit_of]) is None


@given(cases(shared=True), SEEDS)
def test_one_step_makes_one_change(case: Case, seed: int) -> None:
    """A change moves one unit or swaps two."""
    problem, devices = case
    instance = compiled(problem).instance
    start = np.array(devices, dtype=np.int32)
    now = search_state(instance, start)
    taken = wander(instance, now, seeded(seed), 1)
    changed = np.flatnonzero(now.on != start)
    assert len(changed) <= 2 * taken
    if len(changed) == 2:
        assert now.on[changed].tolist() == start[changed[::-1]].tolist()
