"""An objective of a third kind, the price of the devices used, under every command."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import SimulationError, UsageError
from streamplace.problem.objective import Objective
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.registry import evaluator
from streamplace.scoring.values import ValueEvaluator, ValueScore
from streamplace.testing.objectives import check_objective
from streamplace.util.arrays import Floats
from streamplace.workflows.ratios import RatioMeasure
from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.values import GRAPH, Bill, BillEvaluator

NAME = f"{Bill.__module__}:Bill"


class SpreadEvaluator(BillEvaluator):
    bound = None


@dataclass(frozen=True)
class Spread(Bill):
    """The same number, of which more is better."""

    quantity: ClassVar[str] = "spread"
    unit: ClassVar[str] = ""
    higher_is_better: ClassVar[bool] = True
    evaluator: ClassVar[type] = SpreadEvaluator


class WrongEvaluator(ValueEvaluator):
    def values(self, devices: Placements) -> Floats:
        return np.full(len(devices), -1.0)


@dataclass(frozen=True)
class Wrong(Bill):
    evaluator: ClassVar[type] = WrongEvaluator


class InfiniteEvaluator(ValueEvaluator):
    def values(self, devices: Placements) -> Floats:
        return np.full(len(devices), np.inf)


@dataclass(frozen=True)
class Infinite(Bill):
    evaluator: ClassVar[type] = InfiniteEvaluator


@dataclass(frozen=True)
class Bounded(Spread):
    """The same again, with a bound, and a reference that no column is named after."""

    reference: ClassVar[str | None] = "single"
    evaluator: ClassVar[type] = BillEvaluator


@dataclass(frozen=True)
class Lacking(Objective):
    """An objective that states nothing."""


@pytest.fixture
def files(tmp_path: Path, capsys: Capture) -> Path:
    """Return a folder with a graph, and with a good and a bad placement."""
    sp.write_dataset(tmp_path / "graph.jsonl", [GRAPH])
    words = ("place", tmp_path / "graph.jsonl", "--devices", "3x1000", "--objective", NAME)
    succeeds(capsys, *words, "--placer", "round-robin", "-o", tmp_path / "bad.json")
    succeeds(capsys, *words, "-o", tmp_path / "good.json")
    return tmp_path


def test_results_from_python() -> None:
    result = sp.place(GRAPH, "3x1000", objective=Bill(price=5.0))
    score = result.score
    assert isinstance(score, ValueScore)
    assert (score.value, score.unit, score.bound, score.gap) == (5.0, "USD", 5.0, 0.0)
    assert repr(score) == "<ValueScore: bill 5 USD, gap 0.0%>"
    worse = sp.Placement.of(result.placement.problem, {"a": "d0", "b": "d1", "c": "d0", "d": "d1"})
    assert (
        evaluator(worse.problem.with_objective(Bill(price=1.0))).score(worse.devices).value == 2.0
    )
    found = sp.explain(worse)
    assert found.moves == ()
    assert sp.diff(worse, result).values == (10.0, 5.0)
    check_objective(Bill())


def test_a_score_has_a_row_per_device_and_no_messages_of_a_system() -> None:
    score = sp.place(GRAPH, "3x1000", objective=Bill(), placer="single").score
    assert isinstance(score, ValueScore)
    assert score.to_records() == score.to_dict()["devices"]
    assert score.to_records()[0] == {"name": "d0", "operators": 4}
    with pytest.raises(UsageError, match="semantics requires an objective of one pass"):
        sp.compare(GRAPH, ["single"], cluster="3x1000", objective=Bill(), semantics="giph")


def test_higher_values_may_be_better() -> None:
    result = sp.place(GRAPH, "3x1000", objective=Spread(), placer="climb")
    assert result.score.value == 6.0
    assert "raises" in str(getattr(result.score, "verb"))  # noqa: B009
    one = sp.Placement.of(result.placement.problem, dict.fromkeys("abcd", "d0"))
    moves = sp.explain(one).moves
    assert {(move.value, move.gain) for move in moves} == {(4.0, 2.0)}  # type: ignore[union-attr]
    assert moves[0].effect() == ("4", "+2")
    found = sp.compare(GRAPH, ["single", "climb"], cluster="3x1000", objective=Spread(), jobs=1)
    assert found.values[0, :, 0].tolist() == [2.0, 6.0]
    qualities = evaluator(one.problem).quality(np.stack([one.devices, result.placement.devices]))
    assert qualities[0] < qualities[1] < 1.0


def test_place_and_simulate(files: Path, capsys: Capture) -> None:
    bad, good = (json_of(capsys, "simulate", files / f"{name}.json", "--objective", NAME)
                 for name in ("bad", "good"))  # fmt: skip
    assert (bad["value"], good["value"], good["bound"], good["unit"]) == (6.0, 2.0, 2.0, "USD")
    assert good["objective"] == NAME
    shown = succeeds(capsys, "simulate", files / "bad.json", "--objective", f"{NAME}:price=1")
    assert shown.startswith("bill 3 USD, gap 66.7%\ndevice  operators\n")
    out, note = printed(
        capsys, "place", files / "graph.jsonl", "--devices", "3x1000", "--objective", NAME,
        "--start", files / "bad.json",
    )  # fmt: skip
    assert "bill 6 -> 2 USD" in out
    assert "auto ran climb for the bill" in note


def test_explain_diff_and_compare(files: Path, capsys: Capture, tmp_path: Path) -> None:
    found = json_of(capsys, "explain", files / "bad.json", "--objective", NAME)
    assert (found["value"], found["moves"][0]["value"], found["moves"][0]["gain"]) == (6.0, 4.0, 2)
    shown = succeeds(capsys, "explain", files / "bad.json", "--objective", NAME)
    assert shown.splitlines()[1].split() == ["move", "from", "to", "bill,", "USD", "change,", "USD"]
    words = ("diff", files / "bad.json", files / "good.json", "--objective", NAME)
    assert json_of(capsys, *words)["value"] == [6.0, 2.0]
    assert "bill 6 -> 2 USD, -4 (-66.7%)" in succeeds(capsys, *words)
    comparing = ("compare", files / "graph.jsonl", "--devices", "3x1000", "--objective", NAME,
             "--jobs", 1)  # fmt: skip
    document = json_of(capsys, *comparing, "-o", tmp_path / "out", "--table", tmp_path / "t.md")
    assert [row["placer"] for row in document["rows"]] == ["random", "climb"]
    assert document["rows"][1]["mean_value"] == 2.0
    assert document["price"] == 2.0
    assert not [key for key in document["rows"][0] if "heft" in key or "slr" in key]
    assert (tmp_path / "out" / "costs.png").stat().st_size
    assert "| placer | bill, USD | over random |" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("report bad.json -o r.html --objective NAME", "the page shows throughput, makespans"),
        ("export bad.json --to csv", "the placement was made under a user's objective"),
        ("info bad.json", "the placement was made under a user's objective"),
        ("plan graph.jsonl --objective NAME", "plan finds the throughput that devices sustain"),
        ("size graph.jsonl --objective NAME", "size finds the instances that sustain"),
        ("simulate bad.json --objective NAME --gantt g.svg", "--gantt requires"),
        ("simulate bad.json --objective NAME --model engine", "--model: cannot be combined"),
        ("explain bad.json --objective NAME --constraint-costs", "supports only throughput"),
        ("explain bad.json --objective NAME --against http://localhost:1", "only throughput"),
        ("place graph.jsonl --objective NAME --placer heft", "not bill; use auto, climb"),
        (
            "place graph.jsonl --objective NAME --placer exact",
            "not bill; use auto, climb",
        ),
        (
            "place graph.jsonl --objective NAME --placer search",
            "not bill; use auto, climb",
        ),
        ("place graph.jsonl --objective NAME --placer giph", "this needs makespan"),
        (
            "place graph.jsonl --objective NAME --prefer fewest",
            "only throughput, not bill",
        ),
        ("place graph.jsonl --objective NAME --start bad.json --max-moves 1", "not bill"),
        ("place graph.jsonl --objective NAME --confidence 0.9", "supports only throughput"),
        ("place graph.jsonl --objective NAME --max-latency p99=1s", "supports only throughput"),
        ("place graph.jsonl --objective NAME --source-rate 5", "--source-rate: cannot be combined"),
        ("place graph.jsonl --objective NAME --batch 5", "--batch requires --objective makespan"),
    ],
)
def test_what_needs_another_objective_is_refused_in_a_line(
    words: str, message: str, files: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    assert message in refused(capsys, *words.replace("NAME", NAME).split())


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (Wrong(), "its evaluator must return finite values from 0, but returned -1"),
        (Infinite(), "its evaluator must return finite values from 0, but returned inf"),
        (Lacking(), "its class attribute evaluator must be a subclass of ValueEvaluator"),
    ],
)
def test_faults_of_the_evaluator_are_named(objective: Objective, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sp.place(GRAPH, "3x1000", objective=objective, placer="single")


def test_an_objective_may_state_its_evaluator_alone() -> None:
    plain = type("Plain", (Objective,), {"evaluator": SpreadEvaluator, "price": 2.0})()
    assert sp.place(GRAPH, "3x1000", objective=plain).score.headline == "value 2"


def test_a_bound_below_values_of_which_more_is_better_is_an_error() -> None:
    measure = RatioMeasure(Bounded(price=2.0))  # its bound is the price, for one device
    problem = measure.problem(GRAPH, sp.Cluster.parse("3x1000"), None)
    assert measure.tightest_bound(problem, [], np.array([np.nan])) == 2.0
    assert measure.tightest_bound(problem, [], np.array([1.0, 2.0 + 1e-12])) == 2.0 + 1e-12
    with pytest.raises(SimulationError, match=r"the upper bound of 2.0 is below the 4.0"):
        measure.tightest_bound(problem, [], np.array([2.0, 4.0]))


def test_ratios_are_to_the_first_placer_whatever_the_reference() -> None:
    found = sp.compare(GRAPH, ["climb", "single"], cluster="1x1000", objective=Bounded(), jobs=1)
    headings = [column.heading for column in found.columns.values()]
    assert "over climb" in headings
    assert "over heft" not in headings


def test_files_hold_the_options(files: Path) -> None:
    stored = json.loads((files / "bad.json").read_text())
    assert stored["problem"]["objective"] == NAME
    read = sp.read_placement(files / "bad.json", objective=Bill(price=7.0))
    assert sp.simulate(read).value == 21.0
