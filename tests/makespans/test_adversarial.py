"""Adversarial search: its problems are valid, its runs can be replayed, bad placers are found."""

import json
import os
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamplace as sp
from benchmarks.adversarial import __main__ as adversarial
from benchmarks.adversarial.__main__ import main, runs
from benchmarks.adversarial.annealing import STEPS, anneal
from benchmarks.adversarial.problems import SIZES, SLOWEST, Instance, chain, perturbed
from benchmarks.adversarial.scores import (
    EVALUATIONS,
    INTERPRETER,
    MEMBERS,
    PAIRS,
    PLACERS,
    SAGA,
    best_of,
    makespan,
    pair,
    ratios,
)
from benchmarks.schedulers.instances import instance_of
from benchmarks.schedulers.library import FailedError, Library
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.search import quick_placers
from streamplace.placers.base import BasePlacer

SMALL = SIZES["published"]


def heft(problem: sp.Problem, seed: int) -> float:
    return makespan("heft", problem, seed)


def random_eft(problem: sp.Problem, seed: int) -> float:
    return makespan("random-eft:samples=1", problem, seed)


def on_first_device(problem: sp.Problem, _: int) -> float:
    devices = np.zeros(len(problem.graph.names), np.int32)
    return float(MakespanEvaluator(problem).makespans(devices)[0])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(SIZES)), st.integers(0, 120))
def test_changes_keep_problems_valid(seed: int, sizes: str, changes: int) -> None:
    rng = np.random.default_rng(seed)
    instance = chain(SIZES[sizes], rng)
    operators, devices = len(instance.operators), len(instance.devices)
    for _ in range(changes):
        instance = perturbed(instance, rng)
    assert (len(instance.operators), len(instance.devices)) == (operators, devices)
    assert all(a < b for a, b, _ in instance.streams)
    assert len({(a, b) for a, b, _ in instance.streams}) == len(instance.streams) > 0
    weights = (*instance.operators, *(weight for *_, weight in instance.streams))
    assert all(0.0 <= weight <= 1.0 for weight in weights)
    assert all(SLOWEST <= speed <= 1.0 for speed in (*instance.devices, *instance.links))
    assert np.isfinite(heft(instance.problem(), 0))
    assert Instance.from_json(json.loads(json.dumps(asdict(instance)))) == instance


def test_every_change_is_drawn() -> None:
    rng = np.random.default_rng(0)
    start = chain(SMALL, rng)
    start = replace(start, streams=start.streams[:2])
    sizes, fields = set(), set()
    for _ in range(200):
        after = perturbed(start, rng)
        sizes.add(len(after.streams) - len(start.streams))
        fields |= {name for name, value in asdict(after).items() if value != asdict(start)[name]}
    assert sizes == {-1, 0, 1}
    assert fields == {"operators", "streams", "devices", "links"}


def test_a_run_with_a_seed_is_deterministic() -> None:
    first, again, other = (
        anneal(random_eft, on_first_device, SMALL, np.random.default_rng(seed), 30, (0, 1))
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_placer_that_is_bad_on_purpose_is_found() -> None:
    found = [
        anneal(on_first_device, heft, SMALL, np.random.default_rng(seed), steps=400)
        for seed in range(4)
    ]
    worst = max(found, key=lambda each: each.ratio)
    assert worst.ratio > 5.0
    assert ratios(on_first_device, heft, worst.instance) == [worst.ratio]
    assert ratios(heft, on_first_device, worst.instance) == pytest.approx([1.0 / worst.ratio])


def test_auto_meets_every_placer_that_it_runs_first() -> None:
    problem = chain(SMALL, np.random.default_rng(0)).problem()
    rivals = {text.partition(":")[0] for text in (PLACERS | MEMBERS).values()}
    for placer in (each for some in quick_placers(problem) for each in some):
        assert isinstance(placer, BasePlacer)
        assert placer.name in rivals


def test_a_stopped_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adversarial, "PAIRS", (("heft", "peft"), ("peft", "heft")))
    monkeypatch.setattr(adversarial, "STEPS", 5)
    path = tmp_path / "found.json"
    limited(monkeypatch, path, seconds=0.0)
    assert not path.exists()
    limited(monkeypatch, path, seconds=0.2)
    first = json.loads(path.read_text())["rows"]
    limited(monkeypatch, path, seconds=0.2)
    rows = json.loads(path.read_text())["rows"]
    assert rows[: len(first)] == first
    keys = [(row["placer"], row["rival"], row["sizes"], row["restart"]) for row in rows]
    assert len(set(keys)) == len(keys) > len(first) > 0
    assert "| `heft` | `peft` |" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        limited(monkeypatch, path, seconds=0.2, seed=1)
    assert stopped.value.code == 2
    assert "has other settings" in capsys.readouterr().err


SETTINGS = {"seed": 0, "evaluations": EVALUATIONS, "steps": STEPS}
PROBLEM = asdict(chain(SMALL, np.random.default_rng(0)))
ROW: dict[str, Any] = {
    "placer": "heft",
    "rival": "peft",
    "sizes": "published",
    "restart": 0,
    "ratio": 1.0,
    "again": [],
    "problem": PROBLEM,
}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("not JSON", "line 1 column 1: not JSON"),
        ("[]", "must be an object"),
        ('{"settings": {}}', "missing field 'rows'"),
        (json.dumps({"settings": SETTINGS, "rows": [{}]}), "rows[0]: missing field 'placer'"),
        (
            json.dumps({"settings": SETTINGS, "rows": [ROW | {"rival": "hefty"}]}),
            "rows[0].rival: unknown placer 'hefty'",
        ),
        (
            json.dumps(
                {"settings": SETTINGS, "rows": [ROW | {"problem": PROBLEM | {"links": []}}]}
            ),
            "rows[0].problem: ",
        ),
    ],
)
def test_a_file_that_is_no_file_of_runs(
    text: str,
    fault: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "found.json"
    path.write_text(text)
    with pytest.raises(SystemExit) as stopped:
        limited(monkeypatch, path, seconds=0.0)
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: ")
    assert fault in line
    assert path.read_text() == text


def test_saga_has_no_runs_without_its_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(INTERPRETER, raising=False)
    monkeypatch.setattr(adversarial, "PAIRS", (("heft", SAGA), ("heft", "peft")))
    monkeypatch.setattr(adversarial, "STEPS", 2)
    path = tmp_path / "found.json"
    limited(monkeypatch, path, seconds=0.1)
    assert {row["rival"] for row in json.loads(path.read_text())["rows"]} == {"peft"}
    assert f"{SAGA}: skipped, as {INTERPRETER} names no interpreter" in capsys.readouterr().err


def test_runs_beside_saga_are_on_free_networks() -> None:
    keys = [key for key, _ in islice(runs(0), 3 * len(PAIRS))]
    beside = {key["sizes"] for key in keys if SAGA in {key["placer"], key["rival"]}}
    assert beside == {"larger", "published"}
    assert {SIZES[sizes].kind for sizes in beside} == {"free"}


def test_auto_chooses_the_order_beside_saga() -> None:
    orders: list[object] = []

    def score(problem: sp.Problem, _: int) -> float:
        assert isinstance(problem.objective, sp.Makespan)
        orders.append(problem.objective.order)
        return 1.0

    scores = dict.fromkeys(("auto", "heft", SAGA), score)
    for placer, rival in (("auto", SAGA), (SAGA, "auto"), ("auto", "heft")):
        ratios(*pair(placer, rival, scores), chain(SMALL, np.random.default_rng(0)))
    assert orders == ["any", "fifo", "fifo", "any", "fifo", "fifo"]


@pytest.mark.skipif(INTERPRETER not in os.environ, reason=f"needs anrg-saga, {INTERPRETER}")
def test_saga_is_at_most_as_long_as_its_heft() -> None:
    with Library("SAGA", "on_saga", os.environ[INTERPRETER]) as library:
        saga = best_of(library)
        for seed in range(5):
            instance = chain(SIZES["larger"], np.random.default_rng(seed))
            problem = instance.problem()
            heft = library.schedule("HeftScheduler", instance_of("heft", problem)).makespan
            single = makespan("single", problem, 0)
            assert 0.0 < saga(problem, 0) <= min(heft, single) * (1 + 1e-9)


def test_a_library_without_any_schedule_is_one_line() -> None:
    class Failing(Library):
        def schedule(self, *_: Any) -> Any:
            raise FailedError("time")

    library = Failing("SAGA", "on_saga", "python")
    library.names = ["HeftScheduler", "CpopScheduler"]
    with pytest.raises(SystemExit, match="SAGA: no scheduler returned a schedule in 1 s"):
        best_of(library)(chain(SMALL, np.random.default_rng(0)).problem(), 0)


def limited(monkeypatch: pytest.MonkeyPatch, path: Path, seconds: float, seed: int = 0) -> None:
    words = ["adversarial", "--found", str(path), "--seconds", str(seconds), "--seed", str(seed)]
    monkeypatch.setattr("sys.argv", words)
    main()
