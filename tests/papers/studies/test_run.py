"""Tests for the run of a study: results kept as they come, and resumed."""

import json
from pathlib import Path

import pytest

from streamplace.errors import FormatError, PlacementError
from streamplace.papers.studies import run
from streamplace.papers.studies.run import PLAN, REPORT, RESULTS, TimeLeft, duration, run_study
from tests.support.studies import Squares


def test_the_folder_holds_plan_results_report_and_tables(tmp_path: Path) -> None:
    outcome = run_study(Squares(5), tmp_path / "new" / "study", jobs=1)
    assert outcome.findings == ("The sum is 30.",)
    folder = tmp_path / "new" / "study"
    names = {path.name for path in folder.iterdir()}
    assert names == {PLAN, RESULTS, REPORT, "squares.csv", "squares.md", "squares.tex"}
    assert "The sum is 30." in (folder / REPORT).read_text()
    assert (folder / "squares.csv").read_text().splitlines()[-1] == "4,16.0"
    lines = [json.loads(line) for line in (folder / RESULTS).read_text().splitlines()]
    assert [line["unit"] for line in lines] == [f"number {i}" for i in range(5)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_continues_where_it_ended(jobs: int, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    with pytest.raises(PlacementError, match="number 3: has no square"):
        run_study(Squares(5, fails_at=3), tmp_path / "study", jobs=1)
    left: list[int] = []
    for _ in range(2):  # the second time, nothing is left
        study = Squares(5, calls=calls)
        outcome = run_study(study, tmp_path / "study", jobs=jobs, starting=left.append)
        assert outcome.findings == ("The sum is 30.",)
    assert sorted(calls.read_text().split()) == ["3", "4"]
    assert left == [2]


def test_results_are_kept_while_an_earlier_unit_runs(tmp_path: Path) -> None:
    study = Squares(6, results=tmp_path / RESULTS)
    assert run_study(study, tmp_path, jobs=2).findings == ("The sum is 55.",)
    lines = [json.loads(line) for line in (tmp_path / RESULTS).read_text().splitlines()]
    assert lines[-1]["unit"] == "number 0"


def test_a_run_without_results_leaves_no_plan(tmp_path: Path) -> None:
    for folder in (tmp_path / "new" / "study", tmp_path):
        with pytest.raises(PlacementError, match="number 0: has no square"):
            run_study(Squares(2, fails_at=0), folder, jobs=1)
        assert [*tmp_path.iterdir()] == []
    assert run_study(Squares(3), tmp_path, jobs=1).findings == ("The sum is 5.",)


def test_a_result_that_was_cut_off_is_computed_again(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    run_study(Squares(4), tmp_path / "study", jobs=1)
    results = tmp_path / "study" / RESULTS
    whole = results.read_bytes()
    results.write_bytes(whole[:-9])
    assert run_study(Squares(4, calls=calls), tmp_path / "study", jobs=1).findings == (
        "The sum is 14.",
    )
    assert calls.read_text().split() == ["3"]
    assert [json.loads(line)["rows"] for line in results.read_text().splitlines()] == [
        json.loads(line)["rows"] for line in whole.decode().splitlines()
    ]


def test_a_folder_of_another_plan_or_study_is_refused(tmp_path: Path) -> None:
    run_study(Squares(4), tmp_path, jobs=1)
    with pytest.raises(FormatError, match=r"count was 4 and is now 5; choose another folder"):
        run_study(Squares(5), tmp_path, jobs=1)
    plan = json.loads((tmp_path / PLAN).read_text())
    (tmp_path / PLAN).write_text(json.dumps({**plan, "study": "cubes"}))
    with pytest.raises(FormatError, match='holds the study "cubes"'):
        run_study(Squares(4), tmp_path, jobs=1)
    (tmp_path / PLAN).write_text("[]")
    with pytest.raises(FormatError, match="is not the plan of a study"):
        run_study(Squares(4), tmp_path, jobs=1)


@pytest.mark.parametrize(
    "line", ["no json", "{}", '{"unit": "number 9", "rows": []}', '{"unit": "number 1", "rows": 3}']
)
def test_a_spoilt_result_is_named(line: str, tmp_path: Path) -> None:
    run_study(Squares(2), tmp_path, jobs=1)
    with (tmp_path / RESULTS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(FormatError, match=r"results.jsonl: line 3: is not a result of this study"):
        run_study(Squares(2), tmp_path, jobs=1)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (3570, "1 h 0 min"), (7379, "2 h 3 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_count_what_earlier_runs_have_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "EVERY_S", 0.0)
    counter = TimeLeft(2, 5)
    counter.advance()
    first, second = capsys.readouterr().err.splitlines()
    assert first == "streamplace: resuming: 3 of 5 units are done"
    assert second.startswith("streamplace: 4 of 5 units, about ")
