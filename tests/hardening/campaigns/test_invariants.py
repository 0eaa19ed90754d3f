"""Invariants of 200 problems hold, and violations are counted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from benchmarks.hardening.campaigns.invariants import placer_invariance, problem_checks
from benchmarks.hardening.campaigns.invariants.campaign import of_problems, run
from benchmarks.hardening.campaigns.invariants.conservation import above_offered, balances
from benchmarks.hardening.campaigns.invariants.deviations import (
    EXACT,
    Deviations,
    largest_difference,
    relative_difference,
    relative_excess,
)
from benchmarks.hardening.campaigns.invariants.drawn_problems import NO_ERROR, Checks, draw_problems
from benchmarks.hardening.campaigns.invariants.numbered_problems import drawn
from benchmarks.hardening.campaigns.invariants.oracle_comparison import against_oracle
from benchmarks.hardening.campaigns.invariants.page_comparison import (
    against_page,
    compared,
    in_node,
)
from benchmarks.hardening.campaigns.invariants.problem_checks import CONSERVATION, check_engine
from benchmarks.hardening.campaigns.invariants.score_invariance import CHANGES, difference, score_of
from benchmarks.reference.changes import remade
from benchmarks.reference.strategies import Case
from streamplace import Placement, Problem
from streamplace.errors import ProblemError
from streamplace.placers.base import Placer
from streamplace.problem.objective import MODELS, Model
from streamplace.scoring import engine
from streamplace.scoring.models import ClosedFormEvaluator
from streamplace.scoring.registry import CLOSED_FORMS, class_of
from streamplace.scoring.throughput import throughput
from streamplace.sim.engine import RunMetrics, Scene, Settings, Simulation
from streamplace.sim.flow import Flow
from streamplace.util.arrays import Floats, Ints

SHARE = 0.01  # 200 problems, 500 pairs, 16 problems with limits
SLIGHT_ERROR = 1.0 + 1e-8


def test_all_invariants_hold() -> None:
    rows = list(run(SHARE))
    assert len(rows) == 54
    for row in rows:
        assert row.good or "not run" in row.figures, f"{row}: {row.faults}"


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_a_slightly_wrong_closed_form_is_noticed(model: Model) -> None:
    def slightly_wrong(problem: Problem, rows: Ints) -> Floats:
        factor = SLIGHT_ERROR if problem.model == model else 1.0
        return throughput(problem, rows) * factor

    for tally in against_oracle(20, 0, slightly_wrong):
        assert tally.tried == 20
        assert tally.violations == (20 if model in tally.what else 0)
        assert len(tally.faults) == tally.violations


def test_a_slightly_wrong_page_is_noticed() -> None:
    with in_node() as evaluate:
        if evaluate is None:
            pytest.skip("Node.js is not installed")

        def slightly_wrong(batch: list[Any]) -> list[Any]:
            scores = evaluate(batch)
            for shown in scores:
                shown["throughput"] *= SLIGHT_ERROR
            return scores

        assert compared(12, 0, "Node.js", evaluate).violations == 0
        assert compared(12, 0, "Node.js", slightly_wrong).violations == 12


def test_without_a_browser_engine_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    row = against_page(10, 0).row()
    assert (row.tried, row.good) == (0, False)
    assert row.figures["not run"] == "no Chromium, no Node.js"


def run_metrics() -> RunMetrics:
    problem, rows = drawn(5, 0)
    return engine.run(Placement(remade(problem, model="engine"), rows[0]), Settings(duration_s=3.0))


@pytest.mark.parametrize(
    ("part", "column"),
    [
        ("streams", "sent"), ("streams", "taken"), ("operators", "processed"),
        ("sources", "offered"),
    ],
)  # fmt: skip
def test_lost_tuples_are_noticed(part: str, column: str) -> None:
    found = run_metrics()
    assert largest_difference(balances(found, Scene())) <= EXACT
    getattr(found.trace.end, part)[column][0] *= SLIGHT_ERROR
    assert largest_difference(balances(found, Scene())) > EXACT


def test_additional_tuples_are_noticed() -> None:
    found = run_metrics()
    assert above_offered(found) <= EXACT
    found.trace.arrived[-1] *= 1e6
    assert above_offered(found) > EXACT
    assert largest_difference(balances(found, Scene())) > EXACT


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_differences_after_a_change_are_noticed(change: Any, model: Model) -> None:
    if model not in change.models:
        return
    problem, rows = drawn(5, 0)
    case = remade(problem, model=model), rows[0].tolist()
    one, other = Placement(*case), Placement(*change.change(case, np.random.default_rng(0)))
    assert difference(one, score_of(one), other, change) <= EXACT
    faster = remade(other.problem, source_rate=other.problem.source_rate * SLIGHT_ERROR)
    assert difference(one, score_of(one), Placement(faster, other.devices), change) > EXACT


def test_throughput_above_the_source_rate_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def twice(scored: ClosedFormEvaluator, flow: Flow, rows: Ints) -> Floats:
        return np.full(len(np.atleast_2d(rows)), 2.0 * flow.source_rate)

    for model in CLOSED_FORMS:
        monkeypatch.setattr(class_of(model), "reached", twice)
    wrong = {row.what for row in of_problems(20, 0) if not row.good}
    assert wrong == {"throughput within the source rate: closed forms"}


def test_a_placer_that_depends_on_names_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def ready(name: str) -> Placer:
        return lambda problem, rng, start=None: Placement(
            problem, np.full(len(problem.graph.names), int("new" in problem.graph.names[0]))
        )

    monkeypatch.setattr(placer_invariance, "ready_placer", ready)
    problem, rows = drawn(5, 0)
    assert (
        placer_invariance.share_moved(
            "reads", (problem, rows[0].tolist()), np.random.default_rng(0)
        )
        == 1
    )


@pytest.mark.parametrize(
    ("with_scene", "message"),
    [
        (False, "scene: no tuple ever reaches a sink"),
        (True, "source_rate: expected at least one rate (got none)"),
    ],
)
def test_an_engine_that_refuses_a_valid_run_is_noticed(
    with_scene: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a scene there is always something to measure; with one, the sources may be silent."""
    simulation = engine.simulation

    def refuses(problem: Problem, settings: Settings, scene: Scene | None = None) -> Simulation:
        if (scene != Scene()) is with_scene:
            raise ProblemError(message)
        return simulation(problem, settings, scene)

    monkeypatch.setattr(engine, "simulation", refuses)
    checks = Checks()
    draw_problems(checks, 0, 50, check_engine)
    tally = checks.tallies[NO_ERROR]
    assert tally.violations == 1
    assert message in tally.faults[0]


def test_runs_that_are_all_skipped_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem_checks, "MAX_TICKS", 0)
    checks = Checks()
    draw_problems(checks, 0, 50, check_engine)
    row = checks.tallies[CONSERVATION].row()
    assert not row.good
    assert row.wrong["too few"] >= 50 > row.tried
    assert int(row.figures["skipped: more than 0 ticks"]) > 40


@pytest.mark.parametrize(("skipped", "good"), [(0, True), (2, True), (3, False), (100, False)])
def test_a_few_problems_may_be_skipped(skipped: int, good: bool) -> None:
    tally = Deviations("x")
    for _ in range(8):
        tally.record(0.0)
    for _ in range(skipped):
        tally.skip("a reason")
    assert tally.row().good is good


def test_a_violation_is_counted_once_with_its_smallest_problem() -> None:
    def small(checks: Checks, case: Case, data: st.DataObject) -> None:
        checks.record("one device", len(case[0].cluster.devices) - 1.0)

    checks = Checks()
    for block in range(2):
        draw_problems(checks, block, 50, small)
    tally = checks.tallies["one device"]
    assert (tally.violations, len(tally.faults)) == (2, 2)
    assert tally.tried < 100
    for block, fault in enumerate(tally.faults):
        assert fault.startswith(f"block {block}: off by ")
        assert fault.count('"instructions"') == 1


def test_an_unexpected_error_is_a_violation() -> None:
    def divides(checks: Checks, case: Case, data: st.DataObject) -> None:
        assert 1 / (len(case[1]) - 1)

    checks = Checks()
    draw_problems(checks, 0, 50, divides)
    tally = checks.tallies["every problem is handled without an error"]
    assert tally.violations == 1
    assert tally.faults[0].count('"instructions"') == 1
    assert "off by inf (ZeroDivisionError('division by zero'))" in tally.faults[0]


def test_all_problems_of_a_block_are_drawn() -> None:
    def always_holds(checks: Checks, case: Case, data: st.DataObject) -> None:
        checks.record("drawn", 0.0)

    checks = Checks()
    draw_problems(checks, 0, 50, always_holds)
    assert checks.tallies["drawn"].tried >= 50


def test_relative_differences_by_hand() -> None:
    assert relative_difference(2.0, 1.0) == 0.5
    assert relative_difference(0.0, 0.0) == 0.0
    assert relative_difference(1e-9, 0.0, least_divisor=1.0) == 1e-9
    assert relative_excess(1.5, 1.0) == 0.5
    assert relative_excess(0.5, 1.0) == 0.0
    assert relative_excess(0.0, 0.0) == 0.0
    assert relative_excess(1.0, 0.0) == np.inf
    assert np.isnan(largest_difference([0.0, np.nan, 1.0]))
