"""Evaluators: the protocol, which every model keeps, and what is kept of a problem."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reference import oracle
from benchmarks.reference.random_problems import feasible_placements, optimum, random_problem
from sim.engine import Settings
from streamplace.errors import UsageError
from streamplace.problem.objective import MODELS, Model, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled, forget
from streamplace.scoring.flow import flow
from streamplace.scoring.quality import qualities
from streamplace.scoring.registry import CLOSED_FORMS, THROUGHPUT, closed_form, evaluator
from streamplace.scoring.throughput import bound, simulate
from streamplace.util.arrays import Ints

SEEDS = range(12)
QUICK = Settings(duration_s=6.0, tick_s=0.1)


def drawn(seed: int, model: Model) -> tuple[Problem, Ints]:
    """Return a problem and some of its placements, (K, V)."""
    problem = random_problem(seed, model, most=2_000)
    problem = problem.with_objective(replace(problem.objective, engine=QUICK))
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


def test_no_quality_is_above_1() -> None:
    """A run may pass on what had queued before it was measured."""
    problem, rows = drawn(0, "engine")
    assert evaluator(problem).quality(rows).max() <= 1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_loss_orders_placements_as_quality_does_and_goes_on_beyond(model: Model, seed: int) -> None:
    problem, rows = drawn(seed, model)
    scored = evaluator(problem)
    quality, loss = scored.quality(rows), scored.loss(rows)
    overloaded = quality < 1 - 1e-9
    assert np.allclose(loss[overloaded], 1 / quality[overloaded], rtol=1e-9)
    assert (loss[~overloaded] <= 1 + 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_under_bottleneck_is_the_largest_utilisation(seed: int) -> None:
    problem, rows = drawn(seed, "bottleneck")
    scored = evaluator(problem)
    trace = scored.trace(rows)
    largest = np.maximum(trace.device_loads.max(axis=1), trace.link_loads.max(axis=1))
    assert np.allclose(scored.loss(rows), largest, rtol=1e-12)
    for row, loss in zip(rows[:6], scored.loss(rows[:6]), strict=True):
        on_device, on_link = oracle.utilisations(problem, row.tolist())
        busiest = max(map(float, [*on_device.values(), *on_link.values()]))
        assert loss * problem.target_utilisation == pytest.approx(busiest, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_score_is_that_of_its_placement(model: Model, seed: int) -> None:
    problem, rows = drawn(seed, model)
    scored = evaluator(problem)
    for row in rows[:3]:
        score = scored.score(row)
        assert score == simulate(Placement(problem, row))
        assert score.unit == "tuples/s"
        assert score.quality == pytest.approx(scored.quality(row)[0], rel=1e-9)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_placement_is_better_than_the_best_possible(model: Model, seed: int) -> None:
    problem, _ = drawn(seed, model)
    best = closed_form(problem).best_possible
    assert best == pytest.approx(bound(problem) / problem.source_rate, rel=1e-12)
    assert optimum(problem) <= best * problem.source_rate * (1 + 1e-9)


def test_under_the_engine_nothing_is_known_to_be_the_best() -> None:
    problem, _ = drawn(0, "engine")
    assert evaluator(problem).best_possible is None
    with pytest.raises(UsageError, match=r"^engine has no closed form; bottleneck and"):
        closed_form(problem)


def test_settings_of_the_objective_are_those_of_the_run() -> None:
    problem = random_problem(1, "engine", most=2_000)
    row = next(feasible_placements(problem))[0]
    short = problem.with_objective(replace(problem.objective, engine=QUICK))
    assert compiled(short).simulation(QUICK).settings.duration_s == QUICK.duration_s
    assert evaluator(short).score(row) != evaluator(problem).score(row)


def test_every_model_has_an_evaluator() -> None:
    assert tuple(THROUGHPUT) == MODELS
    linear = [model for model, scored in THROUGHPUT.items() if scored.linear]
    assert linear == ["bottleneck"]


def test_what_is_computed_for_a_problem_is_computed_once() -> None:
    problem, _ = drawn(0, "bottleneck")
    kept = compiled(problem)
    assert compiled(problem) is kept
    assert flow(problem) is kept.flow is kept.flow
    assert kept.instance is compiled(problem).instance
    assert kept.simulation(QUICK) is kept.simulation(replace(QUICK))
    assert at_all_rates(problem) == at_all_rates(problem)
    forget(problem)
    assert compiled(problem) is not kept
    assert flow(problem) is not kept.flow


@pytest.mark.parametrize("model", MODELS)
def test_what_is_computed_goes_with_its_problem(model: Model) -> None:
    """No reference leads back to the problem, so it is freed at once and not by the collector."""
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


def test_placements_without_a_score_count_as_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    from sim.closed_form import path_average  # noqa: PLC0415 - what is replaced

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
