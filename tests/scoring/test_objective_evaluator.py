"""Custom objectives: scores against an independent formula, and support by every workflow."""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference import oracle
from benchmarks.reference.random_problems import feasible_placements, random_problem
from streamplace.errors import FormatError, ProblemError, UsageError
from streamplace.files import read_placement
from streamplace.placers.base import Placer
from streamplace.problem.objective import MODELS, Model
from streamplace.reports.data import entry
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator
from streamplace.scoring.registry import CLOSED_FORMS, evaluator
from streamplace.scoring.throughput import bound, simulate, throughput
from streamplace.ticks.runs import EngineScore
from streamplace.util.arrays import Ints
from streamplace.workflows.diff import diff
from streamplace.workflows.explain import explain_throughput as explain
from tests.support.objectives import Last, Net
from tests.support.placements import solve

SEEDS = range(8)


def drawn(seed: int, model: Model, max_rows: int = 40) -> tuple[sp.Problem, Ints]:
    """Return a random problem with a price per device, and placements, one per row."""
    problem = random_problem(seed, model, max_placements=2_000)
    objective = Net(model=model, price=0.1 * problem.source_rate)
    problem = problem.with_objective(objective.with_changes(problem.source_rates))
    return problem, next(feasible_placements(problem))[:max_rows]


def plain(problem: sp.Problem) -> sp.Problem:
    """Return the problem with the throughput objective."""
    return problem.with_objective(sp.Throughput.of(problem.source_rates, problem.model))


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_worth_agrees_with_an_independent_scorer(model: Model, seed: int) -> None:
    problem, rows = drawn(seed, model)
    problem = problem.with_source_rate(problem.source_rate)
    price = 0.1 * problem.source_rate
    for row, found in zip(rows[:8], throughput(problem, rows[:8]), strict=True):
        net = oracle.throughput(plain(problem), row.tolist()) - price * len(set(row.tolist()))
        assert found == pytest.approx(max(0.0, net), rel=1e-9, abs=1e-9)
        score = simulate(sp.Placement(problem, row))
        assert score.throughput == pytest.approx(found, rel=1e-12)
        assert score.objective == f"tests.support.objectives:Net:price={price}"


def test_the_engine_subtracts_the_price_from_the_run() -> None:
    problem, rows = drawn(1, "engine", max_rows=2)
    for row in rows:
        run, score = (simulate(sp.Placement(one, row)) for one in (plain(problem), problem))
        assert isinstance(run, EngineScore)
        assert isinstance(score, EngineScore)
        price = 0.1 * problem.source_rate * len(set(row.tolist()))
        assert score.throughput == pytest.approx(max(0.0, run.throughput - price))
        assert score.latency_s == run.latency_s
    assert evaluator(problem).best_possible is None


def test_the_score_is_at_the_rate_with_the_lowest_worth() -> None:
    problem, rows = drawn(2, "bottleneck")
    top = problem.source_rate
    several = problem.with_source_rate([top, 0.3 * top])  # the price weighs most at the lower rate
    alone = [problem.with_source_rate(rate) for rate in (top, 0.3 * top)]
    lowest = np.min([evaluator(one).quality(rows) for one in alone], axis=0)
    assert np.allclose(evaluator(several).quality(rows), lowest)
    scores = [simulate(sp.Placement(several, row)) for row in rows]
    assert 0.3 * top in {score.source_rate for score in scores}
    assert np.allclose([score.relative_throughput for score in scores], lowest)


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_auto_finds_the_best_placement(model: Model, seed: int) -> None:
    problem, _ = drawn(seed, model)
    scored = evaluator(problem)
    best = max(scored.quality(chunk).max() for chunk in feasible_placements(problem))
    found = solve(problem, "auto:evaluations=20000")
    assert found.score.quality >= best * (1 - 2e-3)  # auto gives up 0.1% to use fewer devices
    assert best <= bound(problem) / problem.source_rate * (1 + 1e-9)
    assert found.gap is not None
    assert found.gap >= 0


def small() -> sp.StreamGraph:
    """Return a chain that reaches 1,667 tuples/s per device, or its full 4,000 on three."""
    names = [f"op_{v}" for v in range(6)]
    rows = [(name, 1e5, 100) for name in names]
    return sp.StreamGraph(rows, [*pairwise(names)], source_rate=4000)


def on_the_first(devices: int) -> Placer:
    """Return a placer that fills the first `devices` devices evenly."""

    def placer(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
        count = len(problem.graph.names)
        return sp.Placement(problem, np.arange(count) * devices // count)

    return placer


def test_a_custom_objective_changes_the_best_placement() -> None:
    """The third device adds 667 tuples/s and costs 1,000."""
    by_throughput = sp.place(small(), "3x1000").score
    assert (by_throughput.devices_used, by_throughput.throughput) == (3, 4000)
    by_worth = sp.place(small(), "3x1000", objective=Net()).score
    assert by_worth.devices_used == 2
    assert by_worth.throughput == pytest.approx(4e6 / 1200 - 2000)
    placers = {"two": on_the_first(2), "three": on_the_first(3)}
    two, three = sp.compare(small(), placers, cluster="3x1000").rows
    assert two.mean < three.mean
    found = sp.compare(small(), placers, cluster="3x1000", objective=Net())
    two, three = found.rows
    assert two.mean > three.mean
    assert found.to_dict()["objective"] == "tests.support.objectives:Net"
    assert "objective 'tests.support.objectives:Net'" in repr(found)
    assert (
        found.measure.scored_by == "bottleneck, tests.support.objectives:Net"
    )  # in titles of pictures
    again = sp.simulate(sp.place(small(), "3x1000"), objective=Net())
    assert again.throughput == pytest.approx(1000)


def test_search_climbs_on_the_score_itself() -> None:
    found = sp.place(small(), "4x1000", objective=Last(), placer="search:evaluations=20000")
    assert set(found.placement.assignment.values()) == {"d3"}
    assert found.score.throughput == pytest.approx(1e6 / 600)


def test_explain_finds_moves_that_raise_the_worth_without_a_bottleneck() -> None:
    problem = sp.Problem(small(), "4x1000", objective=Net())
    spread = sp.Placement(problem, [0, 0, 1, 1, 2, 3])
    found = explain(spread)
    assert not found.limited
    assert {(move.operators, move.target) for move in found.moves[:2]} == {
        (("op_4",), "d3"),
        (("op_5",), "d2"),
    }
    assert found.moves[0].gain == pytest.approx(1000)
    assert found.to_dict()["objective"] == "tests.support.objectives:Net"
    assert explain(sp.Placement(plain(problem), spread.devices)).moves == ()


def test_throughput_only_features_refuse_custom_objectives() -> None:
    found = sp.place(small(), "4x1000", objective=Net(), placer="greedy").placement
    with pytest.raises(UsageError, match="supports only throughput, not objective 'tests"):
        sp.place(small(), objective=Net(), placer="exact")
    with pytest.raises(UsageError, match="makespans and total costs, not objective"):
        entry("a title", found)


def test_scores_and_files_name_only_custom_objectives(tmp_path: Path) -> None:
    by_throughput = sp.place(small(), "4x1000", placer="greedy")
    assert "objective" not in by_throughput.to_dict()
    by_throughput.save(tmp_path / "p.json")
    assert "objective" not in (tmp_path / "p.json").read_text()
    by_worth = sp.place(small(), "4x1000", placer="greedy", objective=Net(price=5))
    assert by_worth.to_dict()["objective"] == "tests.support.objectives:Net:price=5"
    (line,) = diff(by_throughput.placement, by_worth.placement)._objectives()
    assert line.text == "scored at 4,000 tuples/s (bottleneck) by {} and at " + (
        "4,000 tuples/s (bottleneck) by {}"
    )
    assert line.names == ("throughput", "tests.support.objectives:Net:price=5")


def test_a_file_that_names_a_class_needs_the_objective_as_an_argument(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    found = sp.place(small(), "4x1000", placer="greedy", objective=Net.of([4000, 500], None, 0.9))
    found.save(file)
    stored = json.loads(file.read_text())["problem"]["objective"]
    assert stored == "tests.support.objectives:Net"
    with pytest.raises(
        FormatError,
        match=r"p.json: problem.objective: .* pass --objective tests.support.objectives:Net",
    ):
        read_placement(file)
    again = read_placement(file, objective=Net())
    assert again.problem.objective == found.placement.problem.objective
    assert simulate(again) == found.score


class Bad(ObjectiveEvaluator):
    """Returns a wrong value that the objective selects, or raises."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        """Return a wrong worth."""
        assert isinstance(problem.objective, Faulty)
        match problem.objective.fault:
            case "negative":
                return -throughput
            case "none":
                return throughput * np.nan
            case "more":
                return throughput * 1.001
            case "one":
                return 3.0
            case "text":
                return "worth"
        return throughput[99]


@dataclass(frozen=True)
class Faulty(sp.Throughput):
    """An objective whose evaluator is wrong."""

    evaluator: ClassVar[type] = Bad
    fault: str = ""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "negative",
            r"its evaluator must return values from 0 to the throughput \(1666.*, but returned -16",
        ),
        (
            "none",
            r"its evaluator must return values from 0 to the throughput \(1666.*, but returned nan",
        ),
        ("more", r"its evaluator must return values from 0 to the throughput \(.*\), but .* 0"),
        ("one", r"its evaluator must return an array of shape \(1,\) \(got shape \(\)\)"),
        ("text", "its evaluator failed: ValueError: could not convert"),
        ("raised", "its evaluator failed: IndexError: index 99 is out of bounds"),
    ],
)
def test_the_result_of_an_evaluator_is_checked(fault: str, message: str) -> None:
    with pytest.raises(UsageError, match=f":Faulty:fault={fault}': {message}"):
        sp.place(small(), "4x1000", objective=Faulty(fault=fault), placer="single")


def test_a_class_without_an_evaluator_is_refused() -> None:
    @dataclass(frozen=True)
    class Idle(sp.Throughput):
        price: float = 1.0

    @dataclass(frozen=True)
    class Wrong(Idle):
        evaluator: ClassVar[type] = dict

    @dataclass(frozen=True)
    class Unfinished(Idle):
        evaluator: ClassVar[type] = ObjectiveEvaluator  # without worth

    with pytest.raises(UsageError, match="Unfinished': its evaluator failed: TypeError: Can't"):
        sp.place(small(), objective=Unfinished(), placer="single")
    for objective in (Idle(), Wrong()):
        with pytest.raises(UsageError, match="its class attribute evaluator must be a subclass of"):
            sp.place(small(), objective=objective, placer="single")


def test_numbers_cannot_be_combined_with_an_objective() -> None:
    with pytest.raises(UsageError, match="compare: cannot combine objective with model"):
        sp.compare(small(), "single", model="engine", objective=Net())
    with pytest.raises(ProblemError, match="objective: must be an objective"):
        sp.compare(small(), "single", objective="net")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="objective: must be an objective"):
        sp.simulate(sp.place(small()), objective="net")  # type: ignore[call-overload]


def test_every_model_supports_a_custom_objective() -> None:
    for model in MODELS:
        score = sp.place(small(), objective=Net(model=model), placer="single").score
        assert (score.model, score.objective) == (model, "tests.support.objectives:Net")
