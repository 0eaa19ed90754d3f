"""Faults of placers under makespans are noticed, and refusals that are allowed are not."""

from typing import Any

import numpy as np
import pytest

from benchmarks.hardening.campaigns.invariants import placer_invariance
from benchmarks.hardening.campaigns.invariants.deviations import EXACT
from benchmarks.hardening.campaigns.invariants.makespans import (
    proven_placements,
    refined_placements,
)
from benchmarks.hardening.campaigns.invariants.makespans.numbered_passes import drawn
from benchmarks.reference.random_problems import feasible_placements
from streamplace import Makespan, Placement, Problem
from streamplace.errors import GraphError
from streamplace.placers.base import Placer
from streamplace.placers.registry import ready_placer
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.scoring.registry import makespan_evaluator, makespan_score
from streamplace.util.arrays import Ints


def small_problem() -> tuple[Problem, Ints]:
    """Return a problem and its longest feasible placement, which is not optimal."""
    for number in range(1, 100):
        problem = drawn(number, 0)[1].problem
        if proven_placements.is_small(problem):
            every = np.concatenate([*feasible_placements(problem)])
            seconds = makespan_evaluator(problem).makespans(every)
            if seconds.max() > 1.1 * seconds.min() > 0.0:
                return problem, every[seconds.argmax()]
    pytest.fail("every placement is optimal")


def worst(problem: Problem) -> dict[str, float]:
    found: dict[str, float] = {}
    for what, deviation in proven_placements.checks_of(problem):
        found[what] = max(found.get(what, 0.0), deviation)
    return found


def test_a_prover_that_returns_a_worse_placement_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, longest = small_problem()
    ready = ready_placer

    def poor(name: str) -> Placer:
        if name == "exact":
            return lambda problem, rng, start=None: Placement(problem, longest)
        return ready(name)

    assert max(worst(problem).values()) <= EXACT
    monkeypatch.setattr(proven_placements, "ready_placer", poor)
    assert worst(problem)[proven_placements.EXACT_IS_OPTIMAL] > 0.05


def test_a_bound_above_the_optimum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = small_problem()
    monkeypatch.setattr(MakespanEvaluator, "bound_s", 1e9)
    assert worst(problem)[proven_placements.BOUND] > 1.0


def test_a_placer_that_depends_on_names_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def ready(name: str) -> Placer:
        return lambda problem, rng, start=None: Placement(
            problem, np.full(len(problem.graph.names), int("new" in problem.graph.names[0]))
        )

    monkeypatch.setattr(placer_invariance, "ready_placer", ready)
    problem = small_problem()[0].with_objective(Makespan())
    rng = np.random.default_rng(0)
    assert placer_invariance.moved_by("reads", problem, rng) == 1.0


def test_a_refiner_that_worsens_or_breaks_rules_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    placement = next(one for one in (drawn(n, 0)[1] for n in range(99)) if is_movable(one))
    problem, rng = placement.problem, np.random.default_rng(0)
    worst = max(
        (np.full(len(problem.graph.names), d, np.int32) for d in range(2)),
        key=lambda devices: float(makespan_evaluator(problem).makespans(devices)[0]),
    )
    monkeypatch.setattr(refined_placements, "refined_from", lambda start, kind: worst)
    monkeypatch.setattr(
        refined_placements, "feasible", lambda problem, drawn: Placement(problem, 1 - worst)
    )
    found = dict(refined_placements.checks_of(problem, rng))
    assert found[refined_placements.NOT_WORSE.format("GiPH")] > EXACT
    monkeypatch.setattr(refined_placements, "obeying", lambda problem, rows: np.zeros(1, np.bool_))
    found = dict(refined_placements.checks_of(problem, rng))
    assert found[refined_placements.FEASIBLE.format("Placeto")] > EXACT


def is_movable(placement: Placement) -> bool:
    """Return whether all operators may be on either of two devices, of which one is slower."""
    problem = placement.problem
    if len(problem.cluster.devices) != 2:
        return False
    ends = [Placement(problem, np.full(len(problem.graph.names), d, np.int32)) for d in range(2)]
    try:
        one, other = (makespan_score(end).makespan_s for end in ends)
    except ValueError:
        return False
    return 0.0 < one != other < np.inf


def test_no_placer_refuses_a_graph_without_tuples_at_a_sink() -> None:
    problem = drawn(10941, 0)[1].problem
    assert placer_invariance.moved_by("metis", problem, np.random.default_rng(0)) == 0.0

    def refuse(problem: Problem, rng: np.random.Generator, start: Any = None) -> Placement:
        raise GraphError("no tuple ever reaches a sink")

    with pytest.raises(GraphError):
        placer_invariance.placed("heft", refuse, problem)
