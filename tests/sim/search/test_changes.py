"""What a change does to loads: kept up to date it is what working them out anew gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import Case, cases
from sim.bottleneck import utilisations, worst_utilisation
from sim.jit import kernel
from sim.search import Instance, Schedule, World, anneal, anneal_throttled, world
from sim.search.chance import Word
from sim.search.changes import drawn, settle, try_out
from streamplace.arrays import Ints
from streamplace.flows import flow
from streamplace.instances import instance_of
from streamplace.placers.repair import feasible
from streamplace.problem import Problem
from streamplace.score import throughput
from tests.placers.test_every_placer import constrained, some_placement_is_feasible

SEEDS = st.integers(1, 2**31)
PLAN = Schedule(steps=400, hot=0.2, cold=0.002, swaps=0.4, joins=0.25)


@kernel
def wander(job: Instance, now: World, state: Word, steps: int) -> int:
    """Take every change that is drawn; return how many there were."""
    taken = 0
    for step in range(steps):
        trial = drawn(job, now, state, step, 0.4, 0.3)
        if trial.b >= 0:
            try_out(job, now, trial)
            settle(job, now, trial)
            taken += 1
    return taken


def seeded(seed: int) -> Word:
    return np.array([seed], dtype=np.uint64)


def loads(problem: Problem, devices: Ints) -> np.ndarray:
    return np.concatenate(utilisations(flow(problem), devices))


@given(cases(), SEEDS)
def test_loads_stay_what_they_are_anew(case: Case, seed: int) -> None:
    problem, devices = case
    job = instance_of(problem)
    now = world(job, np.array(devices, dtype=np.int32))
    wander(job, now, seeded(seed), 100)
    expected = loads(problem, now.on)
    assert np.allclose(now.load * job.reference, expected, rtol=1e-9, atol=1e-9)


@given(cases(), SEEDS)
def test_the_best_remembered_is_what_it_is_said_to_be(case: Case, seed: int) -> None:
    problem, devices = case
    job, arrays = instance_of(problem), flow(problem)
    now = world(job, np.array(devices, dtype=np.int32))
    top, done = anneal(job, now, seeded(seed), PLAN, -1.0)
    assert done == PLAN.steps
    found, start = worst_utilisation(arrays, np.stack([now.best, np.array(devices, np.int32)]))
    assert np.isclose(top * job.reference, found, rtol=1e-9)
    assert found <= start * (1 + 1e-9)


@given(cases("path-average"), SEEDS)
def test_the_best_throughput_is_what_it_is_said_to_be(case: Case, seed: int) -> None:
    problem, devices = case
    job, arrays = instance_of(problem), flow(problem)
    now = world(job, np.array(devices, dtype=np.int32))
    top, _ = anneal_throttled(job, arrays.columns, arrays.sinks, now, seeded(seed), PLAN, 2.0)
    found, start = throughput(problem, np.stack([now.best, np.array(devices)]))
    assert np.isclose(top, found / problem.source_rate, rtol=1e-9)
    assert found >= start * (1 - 1e-9)


@given(constrained(), SEEDS)
def test_no_change_breaks_a_constraint(problem: Problem | None, seed: int) -> None:
    if problem is None or not some_placement_is_feasible(problem):
        return
    rules, job = problem.feasibility, instance_of(problem)
    start = feasible(problem, np.zeros(len(problem.graph.names), dtype=np.int32)).devices
    now = world(job, start[rules.first_of])
    state = seeded(seed)
    for _ in range(50):
        wander(job, now, state, 3)
        assert rules.violation(now.on[rules.unit_of]) is None


@given(cases(), SEEDS)
def test_one_step_is_one_change(case: Case, seed: int) -> None:
    """One unit moves, or two swap."""
    problem, devices = case
    job = instance_of(problem)
    start = np.array(devices, dtype=np.int32)
    now = world(job, start)
    taken = wander(job, now, seeded(seed), 1)
    changed = np.flatnonzero(now.on != start)
    assert len(changed) <= 2 * taken
    if len(changed) == 2:
        assert now.on[changed].tolist() == start[changed[::-1]].tolist()
