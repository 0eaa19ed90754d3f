"""Total costs: against a plain sum and the engine's times, noise, bounds, and what placers do."""

import json
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.plain_total_cost import plain_total_cost
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.errors import (
    FormatError,
    ObjectiveError,
    ProblemError,
    UnsuitableError,
    UsageError,
)
from streamplace.learning.training.config import read_config
from streamplace.learning.training.problems import make_problems
from streamplace.learning.training.rewards import Rewards
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.total_cost import TotalCost, TotalCostEvaluator, TotalCostScore
from streamplace.placers.registry import make_placer
from streamplace.placers.running import run_placer
from streamplace.problem.objectives import make_objective
from streamplace.reports.data import entry
from streamplace.reports.schedules import ScheduleEntry
from streamplace.scoring.evaluator import ScheduleTrace
from streamplace.scoring.registry import evaluator
from streamplace.sim.schedule.passes import timetable
from streamplace.sim.schedule.queues import NOTHING
from streamplace.sim.schedule.state import Noise
from streamplace.util.arrays import Ints
from streamplace.workflows import single_moves
from streamplace.workflows.explain import explain
from streamplace.workflows.place import place_problem
from tests.support.makespan_problems import feasible_rows, makespan_problem, of_total_cost
from tests.support.refiners import episode, pass_problem, placeto
from tests.support.schedule_cases import schedule_form


@dataclass(frozen=True)
class Dearer(TotalCost):
    """A user's objective, named after its module and class."""


@dataclass(frozen=True)
class Unseen(TotalCost):
    """A user's objective of which the page has no view."""

    quantity: ClassVar[str] = "price"


def random_rows(problem: sp.Problem, count: int) -> Ints:
    """Return random placements that labels and kinds allow, (K, V)."""
    rng, feasibility = np.random.default_rng(1), problem.feasibility
    choices = [np.flatnonzero(feasibility.allowed[u]) for u in feasibility.unit_of]
    return np.array([[rng.choice(each) for each in choices] for _ in range(count)], np.int32)


@pytest.mark.parametrize("large", [False, True])
def test_it_is_a_plain_sum(large: bool) -> None:
    multicasts, kinds = set[str](), set[str]()
    for seed in range(40 if large else 150):
        form = schedule_problem(seed, large=large)
        placement = placement_of(**form)
        scored = evaluator(of_total_cost(placement.problem))
        expected = float(plain_total_cost(**form))
        assert scored.loss(placement.devices)[0] == pytest.approx(expected, rel=1e-12)
        multicasts.add(str(form["graph"]["multicast"]))
        kinds.add(str(form["cluster"]["network"]["kind"]))
    assert (len(multicasts), len(kinds)) == (3, 4)


def test_it_adds_up_the_times_of_the_engine() -> None:
    for seed in range(100):
        problem = makespan_problem(seed)
        if problem.cluster.network.kind == "nic":
            continue
        problem = problem.with_objective(sp.Makespan(noise=0.3, repeats=3, seed=seed))
        rows = random_rows(problem, 3)
        found = evaluator(of_total_cost(problem)).loss(rows)
        for row, cost in zip(rows, found, strict=True):
            expected = 0.0
            for noise in makespan_evaluator(problem).compiled.noises:
                expected += _engine_cost(problem, row, noise) / 3
            assert cost == pytest.approx(expected, rel=1e-12)


def _engine_cost(problem: sp.Problem, row: Ints, noise: Noise) -> float:
    """Return the durations of operators and messages in a run of the engine."""
    scored = makespan_evaluator(problem)
    run = timetable(scored.tasks, scored.orders[0], row, noise).run
    messages = np.unique(run.message[np.unique(run.delivery[run.delivery != NOTHING])])
    transfers = run.transfer[messages] + run.latency[messages]  # those of other streams are not set
    return float(run.duration.sum() + transfers.sum())


def test_several_placements_have_the_costs_of_each() -> None:
    for seed in range(30):
        problem = of_total_cost(makespan_problem(seed))
        rows, scored = random_rows(problem, 5), evaluator(problem)
        together = scored.loss(rows)
        np.testing.assert_array_equal(together, [scored.loss(row)[0] for row in rows])
        assert together.shape == (5,)


def test_no_placement_costs_less_than_the_bound() -> None:
    tight = 0
    for seed in range(60):
        problem = of_total_cost(makespan_problem(seed))
        rows = feasible_rows(problem, 2_000)
        if rows is None:
            continue
        scored = evaluator(problem)
        assert isinstance(scored, TotalCostEvaluator)
        assert scored.bound_s is not None
        least = scored.costs(rows).min()
        assert scored.bound_s <= least * (1 + 1e-12)
        assert scored.quality(rows).max() <= 1
        tight += bool(scored.bound_s > least * (1 - 1e-9))
    assert tight > 10


def test_order_barrier_and_queues_do_not_count() -> None:
    for seed in range(20):
        problem = makespan_problem(seed)
        rows = random_rows(problem, 4)
        first, second = (
            evaluator(of_total_cost(problem, order=order, barrier=barrier)).loss(rows)
            for order, barrier in (("fifo", False), ("b-level", True))
        )
        np.testing.assert_array_equal(first, second)


def test_the_score_has_cost_makespan_and_gap() -> None:
    problem = of_total_cost(makespan_problem(3))
    row = random_rows(problem, 1)[0]
    score = sp.simulate(sp.Placement(problem, row))
    assert isinstance(score, TotalCostScore)
    assert score.value == score.total_cost_s == evaluator(problem).loss(row)[0]
    with_makespan = problem.with_objective(sp.Makespan(**asdict(problem.objective)))
    assert score.makespan_s == makespan_evaluator(with_makespan).makespans(row)[0]
    assert score.quality == evaluator(problem).quality(row)[0]
    assert score.to_dict()["total_cost_s"] == score.value
    assert score.to_dict()["objective"] == "total-cost"
    assert "total cost" in repr(score)
    assert isinstance(evaluator(problem).trace(row), ScheduleTrace)


def test_an_operator_on_a_device_that_cannot_run_it_is_an_error() -> None:
    cluster = sp.Cluster([sp.Device("cpu", 1, kind="cpu"), sp.Device("gpu", 1, kind="gpu")])
    graph = sp.StreamGraph([sp.Operator("a", 1e6, 0, seconds_on={"gpu": None})], [])
    problem = sp.Problem(graph, cluster, objective=TotalCost())
    with pytest.raises(ProblemError, match="'a'"):
        evaluator(problem).score(np.array([1]))


def test_rewards_follow_the_cost() -> None:
    problem = of_total_cost(makespan_problem(5))
    rows = random_rows(problem, 4)
    found = Rewards([problem], "log-loss")(0, rows)
    np.testing.assert_allclose(found, -np.log(evaluator(problem).loss(rows)))


def test_episodes_of_refiners_have_its_loss() -> None:
    problem = of_total_cost(pass_problem(), batch=100)
    made = episode(placeto(), problem)
    assert made.losses is not None
    assert made.best is not None
    best = evaluator(problem).loss(made.best[0, 0][None])[0]
    assert np.nanmin(made.losses[0, 0]) == best


@pytest.mark.parametrize("placer", ["search", "heft", "critical-path"])
def test_schedulers_refuse_it(placer: str) -> None:
    problem = of_total_cost(makespan_problem(5))
    with pytest.raises(ObjectiveError, match=r"supports only makespan.*, not total cost"):
        make_placer(placer)(problem, np.random.default_rng(0))


def test_placers_for_throughput_refuse_it() -> None:
    problem = of_total_cost(makespan_problem(5))
    fault = "supports only throughput, not total cost; use auto, climb, exact, random or a"
    with pytest.raises(ObjectiveError, match=fault):
        run_placer(problem, "greedy", np.random.default_rng(0))


@pytest.mark.parametrize("placer", ["random", "climb", "single", "round-robin", "giph"])
def test_other_placers_use_it(placer: str) -> None:
    problem = of_total_cost(makespan_problem(8))
    score = place_problem(problem, placer).score
    assert isinstance(score, TotalCostScore)


def test_the_climb_finds_the_cheapest_placement_of_small_problems() -> None:
    found = 0
    for seed in range(40):
        problem = of_total_cost(makespan_problem(seed))
        rows = feasible_rows(problem, 200)
        if rows is not None and len(rows) > 1:
            least = evaluator(problem).loss(rows).min()
            reached = place_problem(problem, "climb:evaluations=500").score.value
            assert reached >= least * (1 - 1e-12)
            found += bool(reached <= least * (1 + 1e-9))
    assert found > 10


def test_it_is_explained_by_its_parts_and_moves() -> None:
    """The parts add up to the cost, also with noise, and all moves that lower it are found."""
    moves = 0
    for seed in range(60):
        problem = of_total_cost(makespan_problem(seed), noise=0.3 if seed % 2 else 0.0)
        row = random_rows(problem, 1)[0]
        found = explain(sp.Placement(problem, row))
        document = found.to_dict()
        cost = evaluator(problem).loss(row)[0]
        assert document["total_cost_s"] == pytest.approx(cost, rel=1e-12)
        assert sum(document["division"].values()) == pytest.approx(cost, rel=1e-12)
        seconds = [one["seconds"] for one in document["contributors"]]
        assert sum(seconds) == pytest.approx(cost, rel=1e-12)
        assert seconds == sorted(seconds, reverse=True)
        lower = {}
        for v, d in product(range(len(row)), range(len(problem.cluster.devices))):
            moved = np.where(np.arange(len(row)) == v, np.int32(d), row)
            if d != row[v] and problem.feasibility.violation(moved) is None:
                names = problem.graph.names[v], problem.cluster.names[d]
                lower[names] = evaluator(problem).loss(moved)[0]
        lower = {move: after for move, after in lower.items() if after < cost * (1 - 1e-9)}
        shown = {(m["operators"][0], m["to"]): m["total_cost_s"] for m in document["moves"]}
        assert shown == pytest.approx(lower)
        assert "of the total cost" in repr(found._view().body)
        moves += len(shown)
    assert moves > 100


def test_an_explanation_names_what_costs_and_where() -> None:
    form = schedule_form("a:1 b:2@1 c:4@1", "a>b:3 b>c:1", devices=2, network={"latency_s": 0.5})
    problem = of_total_cost(placement_of(**form).problem)
    found = explain(sp.Placement(problem, [0, 1, 1]))
    document = found.to_dict()
    assert document["contributors"] == [
        {"operator": "c", "device": "d1", "seconds": 4.0},
        {"message": ["a", "b"], "link": ["d0", "d1"], "seconds": 3.5},
        {"operator": "b", "device": "d1", "seconds": 2.0},
        {"operator": "a", "device": "d0", "seconds": 1.0},
    ]
    assert document["division"] == {"execution_s": 7.0, "transfers_s": 3.5}
    assert document["moves"][0] == {
        "operators": ["a"],
        "from": "d0",
        "to": "d1",
        "total_cost_s": 7.0,
        "gain_s": 3.5,
    }
    best = explain(sp.Placement(problem, [1, 1, 1]))
    assert "no single move lowers the total cost" in str(best._view().body)


def test_large_problems_try_the_operators_that_cost_the_most_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(single_moves, "MAX_PARTS", 1)
    form = schedule_form("a:1 b:2 c:4@1", "a>b:3 b>c:1", devices=2)
    found = explain(sp.Placement(of_total_cost(placement_of(**form).problem), [0, 0, 1]))
    assert [move["operators"] for move in found.to_dict()["moves"]] == [["c"]]
    assert "tried the operators that cost the most first" in str(found._view().body)


def test_limits_on_moves_refuse_it_and_say_why() -> None:
    problem = of_total_cost(makespan_problem(8))
    fault = "support only makespan and throughput, not total cost; leave them out"
    with pytest.raises(UsageError, match=fault):
        sp.migrate(problem, sp.Placement(problem, random_rows(problem, 1)[0]), max_moves=1)


def test_a_report_has_its_figures() -> None:
    """A pass whose objective has no view on the page is refused in one line."""
    problem = of_total_cost(makespan_problem(8))
    placement = sp.Placement(problem, random_rows(problem, 1)[0])
    figures = entry("t", placement).to_dict()
    score = makespan_evaluator(problem).score(placement.devices)
    assert figures["objective"] == "total-cost"
    assert (figures["total_cost_s"], figures["gap"]) == (score.value, score.gap)
    noisy = of_total_cost(problem, noise=0.2)
    shown = entry("t", sp.Placement(noisy, placement.devices))
    assert isinstance(shown, ScheduleEntry)
    assert shown.bound_s == score.bound_s
    with pytest.raises(UsageError, match="report: the page shows throughput, makespans and total"):
        entry("t", sp.Placement(problem.with_objective(Unseen()), placement.devices))


def test_comparisons_are_of_its_costs() -> None:
    """Costs, bounds and names are those of the objective; the SLR and HEFT are left out."""
    problems = [of_total_cost(makespan_problem(seed)) for seed in (8, 9)]
    graphs, clusters = zip(*((one.graph, one.cluster) for one in problems), strict=True)
    placers = ["random", "climb"]
    found = sp.compare(graphs, placers, clusters=clusters, objective=TotalCost(), jobs=1)
    for j, placer in enumerate(placers):
        for n, (graph, cluster) in enumerate(zip(graphs, clusters, strict=True)):
            problem = sp.Problem(graph, cluster, objective=TotalCost())
            placement = run_placer(problem, placer, np.random.default_rng([0, n])).placement
            cost = makespan_evaluator(problem).loss(placement.devices)[0]
            assert found.values[0, j, n] == pytest.approx(cost)
            assert found.figures.bounds[0, n] == makespan_evaluator(problem).bound_s
    entries = found.to_dict()
    assert entries["objective"] == "total-cost"
    first, second = entries["rows"]
    assert second["mean_total_cost_s"] <= first["mean_total_cost_s"]
    assert not [key for key in first if "makespan" in key or "slr" in key or "heft" in key]
    headings = [column.heading for column in found.columns.values()]
    assert headings[:3] == ["placer", "total cost, s", "over random"]
    assert found.headline.startswith("total cost over 2 graphs")
    with pytest.raises(UnsuitableError, match="placer 'heft' supports only makespan, not total"):
        sp.compare(graphs, "heft", clusters=clusters, objective=TotalCost(), jobs=1)


def test_files_and_names_hold_it_with_its_options(tmp_path: Path) -> None:
    problem = makespan_problem(8).with_objective(TotalCost(batch=7))
    result, file = place_problem(problem, "round-robin"), tmp_path / "placement.json"
    result.save(file)
    read = sp.read_placement(file)
    assert read.problem.objective == make_objective("total-cost:batch=7") == TotalCost(batch=7)
    assert sp.simulate(read).value == result.score.value
    assert json.loads(file.read_text())["problem"]["objective"] == "total-cost:batch=7"


def test_files_name_a_class_that_derives_from_it(tmp_path: Path) -> None:
    """The name is not read without asking, since it would import a module."""
    dearer, file = Dearer(batch=3), tmp_path / "placement.json"
    place_problem(makespan_problem(8).with_objective(dearer), "round-robin").save(file)
    stored = json.loads(file.read_text())["problem"]["objective"]
    assert make_objective(stored) == dearer
    with pytest.raises(FormatError, match="pass --objective tests"):
        sp.read_placement(file)
    assert sp.read_placement(file, objective=dearer).problem.objective == dearer


def test_training_takes_it_by_name() -> None:
    config = read_config("placeto")
    changes = {"objective": "total-cost:batch=2", "operators": (1, 1000), "share": 1.0}
    groups = [group.model_copy(update=changes) for group in config.problems]
    assert all(group.made_objective.is_pass for group in groups)
    problems = make_problems([makespan_problem(seed).graph for seed in range(2)], groups, seed=0)
    assert {problem.objective for problem in problems} == {TotalCost(batch=2)}
