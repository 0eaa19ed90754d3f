"""Evaluators: the protocol under every model, and the cache of intermediate results."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reference import oracle
from benchmarks.reference.random_problems import feasible_placements, optimum, random_problem
from streamplace.errors import UsageError
from streamplace.problem.objective import MODELS, Model, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import (
    BY_MODEL,
    CLOSED_FORMS,
    class_of,
    closed_form,
    evaluator,
    qualities,
    throughput_evaluator,
)
from streamplace.scoring.throughput import bound, simulate
from streamplace.sim.engine import Settings
from streamplace.ticks.runs import simulation
from streamplace.util.arrays import Ints

SEEDS = range(12)


QUICK = Settings(duration_s=6.0, tick_s=0.1)


def drawn(seed: int, model: Model) -> tuple[Problem, Ints]:
    """Return a random problem and some of its placements, one per row."""
    problem = random_problem(seed, model, max_placements=2_000)
    problem = problem.with_objective(replace(problem.throughput_objective, engine=QUICK))
    rows = next(feasible_placements(problem))
    return problem, rows[: 3 if model == "engine" else 40]


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", range(6))
def test_quality_is_the_lowest_relative_throughput_by_an_independent_scorer(
    model: Model, seed: int
) -> None:
    problem, rows = drawn(seed, model)
    problem = problem.with_objective(Throughput.of([700, 2500], model))
    rates = [problem.with_source_rate(rate) for rate in problem.source_rates]
    for row, found in zip(rows[:6], evaluator(problem).quality(rows[:6]), strict=True):
        relative = [oracle.throughput(one, row.tolist()) / one.source_rate for one in rates]
        assert found == pytest.approx(min(relative), rel=1e-9)


def test_quality_is_at_most_1() -> None:
    """A run may deliver tuples that were queued before the measurement."""
    problem, rows = drawn(0, "engine")
    assert evaluator(problem).quality(rows).max() <= 1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_loss_is_the_inverse_of_a_quality_below_1(model: Model, seed: int) -> None:
    problem, rows = drawn(seed, model)
    scored = evaluator(problem)
    quality, loss = scored.quality(rows), scored.loss(rows)
    overloaded = quality < 1 - 1e-9
    assert np.allclose(loss[overloaded], 1 / quality[overloaded], rtol=1e-9)
    assert (loss[~overloaded] <= 1 + 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_under_bottleneck_is_the_largest_utilisation(seed: int) -> None:
    problem, rows = drawn(seed, "bottleneck")
    scored = throughput_evaluator(problem)
    trace = scored.trace(rows)
    loads = (trace.device_loads, trace.link_loads, trace.operator_loads)
    largest = np.max([load.max(axis=1) for load in loads], axis=0)
    assert np.allclose(scored.loss(rows), largest, rtol=1e-12)
    for row, loss in zip(rows[:6], scored.loss(rows[:6]), strict=True):
        on_device, on_link = oracle.utilisations(problem, row.tolist())
        own = oracle.own_utilisations(problem, row.tolist())
        busiest = max(map(float, [*on_device.values(), *on_link.values(), *own.values()]))
        assert loss * problem.target_utilisation == pytest.approx(busiest, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_score_agrees_with_simulate_and_quality(model: Model, seed: int) -> None:
    problem, rows = drawn(seed, model)
    scored = evaluator(problem)
    for row in rows[:3]:
        score = scored.score(row)
        assert score == simulate(Placement(problem, row))
        assert score.unit == "tuples/s"
        assert score.quality == pytest.approx(scored.quality(row)[0], rel=1e-9)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_placement_exceeds_the_best_possible(model: Model, seed: int) -> None:
    problem, _ = drawn(seed, model)
    best, printed = closed_form(problem).best_possible, bound(problem)
    assert printed <= best * problem.source_rate * (1 + 1e-12)
    assert optimum(problem) <= printed * (1 + 1e-9)


def test_the_engine_has_no_best_possible_and_no_closed_form() -> None:
    problem, _ = drawn(0, "engine")
    assert evaluator(problem).best_possible is None
    with pytest.raises(
        UsageError, match=r"^model 'engine' has no closed form; choose from bottleneck, path"
    ):
        closed_form(problem)


def test_a_run_uses_the_settings_of_the_objective() -> None:
    problem = random_problem(1, "engine", max_placements=2_000)
    row = next(feasible_placements(problem))[0]
    short = problem.with_objective(replace(problem.throughput_objective, engine=QUICK))
    assert simulation(short).settings.duration_s == QUICK.duration_s
    assert evaluator(short).score(row) != evaluator(problem).score(row)


def test_every_model_has_an_evaluator() -> None:
    assert tuple(BY_MODEL) == MODELS
    linear = [model for model in MODELS if class_of(model).linear]
    assert linear == ["bottleneck"]


def test_intermediate_results_are_cached() -> None:
    problem, _ = drawn(0, "bottleneck")
    kept = compiled(problem)
    assert compiled(problem) is kept
    assert flow(problem) is kept.flow is kept.flow
    assert kept.instance is compiled(problem).instance
    run = simulation(problem, QUICK)
    assert simulation(problem, replace(QUICK)) is run
    assert at_all_rates(problem) == at_all_rates(problem)
    problem.forget()
    assert compiled(problem) is not kept
    assert flow(problem) is not kept.flow
    assert simulation(problem, QUICK) is not run


@pytest.mark.parametrize("model", MODELS)
def test_the_cache_is_freed_with_its_problem(model: Model) -> None:
    """The cache does not refer to the problem, so no garbage collection is needed to free both."""
    problem, rows = drawn(3, model)
    problem = problem.with_source_rate([500, 900])
    evaluator(problem).score(rows[0])
    evaluator(problem).local_search()
    kept = weakref.ref(compiled(problem)), weakref.ref(problem)
    gc.disable()
    try:
        del problem
        assert [reference() for reference in kept] == [None, None]
    finally:
        gc.enable()


def test_placements_without_a_score_have_quality_minus_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamplace.sim.closed_form import path_average  # noqa: PLC0415 - patched below

    problem, rows = drawn(2, "path-average")
    bad = rows[1]

    def unsolved(flow: object, placements: Ints) -> np.ndarray:
        if any((row == bad).all() for row in np.atleast_2d(placements)):
            raise path_average.ConvergenceError("placement 1: not solved")
        return solved(flow, placements)  # type: ignore[arg-type]

    solved = path_average.throughput
    monkeypatch.setattr(path_average, "throughput", unsolved)
    found = qualities(problem, [Placement(problem, row) for row in rows[:3]])
    assert found[1] == -1
    assert (found[[0, 2]] > 0).all()


def test_all_who_use_an_evaluator_at_the_same_time_share_it() -> None:
    problem, rows = drawn(0, "bottleneck")
    scored = evaluator(problem)
    assert evaluator(problem) is throughput_evaluator(problem) is scored
    assert evaluator(problem.with_source_rate(2.0 * problem.source_rate)) is not scored
    freed = weakref.ref(problem)
    gc.disable()
    try:
        del scored, problem
        assert freed() is None  # no circle keeps its arrays
    finally:
        gc.enable()
    assert len(rows)
