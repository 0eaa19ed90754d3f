"""The comparison of `auto` with its rivals: what is drawn, what is counted, what is resumed."""

import json
from pathlib import Path
from time import process_time
from types import SimpleNamespace

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans import auto, rivals
from benchmarks.makespans.auto import Lines, Settings, compare
from benchmarks.makespans.drawn import FAMILIES, KINDS, ORDERS, drawn_problem
from benchmarks.makespans.rivals import ONCE, RANDOMISED, RIVALS, EqualEvaluations, EqualTime
from benchmarks.makespans.tally import AGAIN, SAME, Compared, report
from streamplace.makespan.compiled_pass import CompiledPass, compiled_pass
from streamplace.placers.registry import make_placer, names_for
from streamplace.placers.trivial import Single
from tests.support.makespan_problems import makespan_of
from tests.support.placers import LEARNED, seeded_rng

SETTINGS = Settings(seed=3, evaluations=50, seconds=None)
SMALL = 11  # the number of a problem of 14 operators


def made(number: int, own: float | None, other: float | None) -> Compared:
    makespans = {name: own if name == "auto" else other for name in ("auto", "heft")}
    return Compared(number, "dream, free, fifo", 14, 2, makespans, {"auto": 1.0, "heft": 0.5})


def test_every_placer_but_exact_and_learned_ones_is_a_rival() -> None:
    named = {name.partition(":")[0] for name in RIVALS}
    assert named == set(names_for("makespan")) - {"auto", "exact", *LEARNED}


def test_families_kinds_and_orders_take_turns() -> None:
    count = len(FAMILIES) * len(KINDS) * len(ORDERS)
    turns = {(n % 12, n // 12 % 4, n // 48 % 4) for n in range(count)}
    assert len(turns) == count
    for number in (SMALL, SMALL + 12, SMALL + 96):
        name, problem = drawn_problem(number, 3)
        objective = problem.makespan_objective
        assert name == f"dream, {problem.cluster.network.kind}, {objective.order}"
        assert problem.graph.sha256 == drawn_problem(number, 3)[1].graph.sha256
        assert problem.cluster != drawn_problem(number, 4)[1].cluster


def test_results_are_makespans_of_the_problem() -> None:
    found = compare(SMALL, SETTINGS)
    assert set(found.makespans_s) == {"auto", *RIVALS}
    problem = drawn_problem(SMALL, 3)[1]
    best = makespan_of(make_placer("exact")(problem, seeded_rng()))
    assert all(s is None or s >= best * (1 - 1e-9) for s in found.makespans_s.values())
    assert found.worst(RIVALS) == 1.0


def test_randomised_placers_run_until_the_time_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that a look advances by a second, six looks are three runs."""
    seconds = iter(range(10**9))
    clock = SimpleNamespace(perf_counter=lambda: float(next(seconds)), process_time=process_time)
    monkeypatch.setattr("streamplace.sim.work_clock.time", clock)
    found = EqualTime(3.0).compared(drawn_problem(SMALL, 3)[1])
    for name in RANDOMISED:
        assert found[name].seconds >= 3.0
    assert found["heft"].seconds < 3.0


def test_placers_compute_the_tables_of_a_problem_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = drawn_problem(SMALL, 3)[1]
    made = list[CompiledPass]()

    def place(problem: sp.Problem, _: np.random.Generator) -> sp.Placement:
        made.append(compiled_pass(problem))
        return sp.Placement(problem, np.zeros(len(problem.graph.names), np.int32))

    monkeypatch.setattr(rivals, "make_placer", lambda _: place)
    EqualTime(0.0).compared(problem)
    assert len(made) == len(set(map(id, made))) == len(RIVALS) + 2


def test_samples_of_every_operator_on_each_device_count_as_one_evaluation_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = drawn_problem(SMALL, 3)[1]
    texts = list[str]()

    def noted(text: str) -> Single:
        texts.append(text)
        return Single()

    monkeypatch.setattr(rivals, "make_placer", noted)
    EqualEvaluations(600).compared(problem)
    samples = 600 // len(problem.cluster.devices)
    assert texts[:3] == ["auto:evaluations=600", "search:evaluations=600", "climb:evaluations=600"]
    assert texts[3:6] == [
        f"random:evaluations={rivals.DRAWN}",
        f"critical-path:samples={samples}",
        f"random-eft:samples={samples}",
    ]
    assert tuple(texts[6:]) == ONCE


def test_rows_count_problems_on_which_auto_is_as_good(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [made(0, 1.0, 1.0), made(1, 1.0005, 1.0), made(2, 1.25, 1.0), made(3, 1.0, None)]
    report(rows, ("heft",))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:6] == ["heft", "3", "33.3%", "66.7%", "66.7%", "66.7%"]
    assert "1.2500" in lines[1]
    assert lines[1].endswith("dream, free, fifo (2)")
    ends = [line.split() for line in lines if line.startswith("all")]
    assert ends == [["all", "4", "50.0%", "75.0%", "75.0%", "75.0%"]]


def test_auto_is_compared_with_search_on_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [made(number, own, 1.0) for number, own in enumerate((1.0, 1.2, 0.9, 1.1))]
    for row in rows:
        row.makespans_s["search"], row.seconds["search"] = 1.0, 0.5
        row.makespans_s["heft"] = 2.0
    report(rows, ("search", "heft"))
    lines = capsys.readouterr().out.splitlines()
    assert "auto beside search: equal on 1, shorter on 1, longer on 2; mean ratio 1.0500" in lines
    ends = [line.split()[-5:] for line in lines if line.startswith("all ") and "by" not in line]
    assert ends == [["4", *["50.0%"] * 4], ["4", *["100.0%"] * 4]]
    assert not any(line.startswith("search beside itself") for line in lines)


def test_search_is_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [made(number, 1.0, 1.0) for number in range(2)]
    for row, again in zip(rows, (1.0, 0.8), strict=True):
        row.makespans_s.update({SAME: 1.0, AGAIN: again})
        row.seconds[SAME] = 0.5
    report(rows, (SAME, "heft"))
    found = [line.split() for line in capsys.readouterr().out.splitlines() if "itself" in line]
    assert found == [["search", "beside", "itself", "2", *["50.0%"] * 4, "1.2500"]]


def test_a_run_is_resumed_after_its_last_complete_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lines.jsonl"
    lines = Lines(path, SETTINGS)
    assert lines.read() == []
    lines.add(made(0, 1.0, 1.0))
    lines.add(made(1, 1.0, 1.0))
    with path.open("a") as file:
        file.write('{"number": 2, "prob')
    assert [each.number for each in lines.read()] == [0, 1]
    assert path.read_text().endswith("}\n")
    asked = list[int]()

    def noted(number: int, settings: Settings) -> Compared:
        asked.append(number)
        assert settings == SETTINGS
        return made(number, 1.0, 1.0)

    monkeypatch.setattr(auto, "compare", noted)
    monkeypatch.setattr(auto, "RIVALS", ("heft",))
    words = f"auto --problems 4 --seed 3 --evaluations 50 --lines {path} --resume"
    monkeypatch.setattr("sys.argv", words.split())
    auto.main()
    assert asked == [2, 3]
    assert len(path.read_text().splitlines()) == 5
    assert "all" in capsys.readouterr().out


def test_lines_of_other_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    Lines(path, SETTINGS).add(made(0, 1.0, 1.0))
    before = path.read_text()
    with pytest.raises(SystemExit, match="has other settings"):
        Lines(path, Settings(seed=4, evaluations=50, seconds=None)).read()
    assert path.read_text() == before
    settings = {"seed": 3, "evaluations": 50, "seconds": None, "sized": False}
    assert json.loads(before.splitlines()[0]) == settings
