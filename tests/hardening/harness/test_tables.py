"""Rows of the campaign, and the tables of them."""

from pathlib import Path

import pytest

from benchmarks.hardening.__main__ import FOLDER, PARTS
from benchmarks.hardening.harness.rows import Row, Run, read_rows, save_rows
from benchmarks.hardening.harness.tables import full_table, missing, report_files, summary_table


@pytest.mark.parametrize("path", report_files(FOLDER, PARTS), ids=lambda path: path.name)
def test_documents_agree_with_the_rows(path: Path) -> None:
    assert path.read_text() == report_files(FOLDER, PARTS)[path]


@pytest.mark.parametrize("part", PARTS)
def test_the_saved_rows_have_no_faults(part: str) -> None:
    for row, _ in read_rows(FOLDER / f"{part}.json"):
        assert not any(row.wrong.values()), row.what


def test_rows_of_one_command_at_several_commits_are_one_line(tmp_path: Path) -> None:
    runs = [Run("x", 1.0, 3, "0a1b", "2026-11-21"), Run("x", 1.0, 3, "2c3d", "2026-11-22")]
    part = Run("x", 0.5, 3, "2c3d", "2026-11-22")
    rows = [Row(f"files {i}", 5 + i, {"hangs": i}, group="files") for i in range(3)]
    save_rows(tmp_path / "readers.json", list(zip(rows, [*runs, part], strict=True)))
    assert summary_table(tmp_path, ["readers"]).splitlines()[2:] == [
        "| files | 11 | 1 hangs | `x` |",
        "| files | 7 | 2 hangs | `x` |",
    ]
    assert full_table(tmp_path, ["readers"]).count("`x`: share") == 3


def test_faults_and_missing_runs_are_reported(tmp_path: Path) -> None:
    run = Run("x", 0.5, 3, "0a1b", "2026-11-21")
    rows = [
        Row("graphs", 1200, {"tracebacks": 0, "hangs": 2}, {"longest": "0.4 s"}),
        Row("others", 0, {"tracebacks": 0, "hangs": 0}),
        Row("advisories", 0, {}, {"not run": "service not reachable"}),
        Row("of a", 3, {"hangs": 0}, group="of all"),
        Row("of b", 4, {"hangs": 0}, group="of all"),
        Row("of c", 0, {"hangs": 0}, group="of all"),
    ]
    save_rows(tmp_path / "readers.json", [(row, run) for row in rows])
    assert summary_table(tmp_path, ["readers", "load"]).splitlines()[2:] == [
        "| graphs | 1,200 | 2 hangs | `x` |",
        "| others | 0 | not run | `x` |",
        "| advisories | 0 | not run: service not reachable | `x` |",
        "| of all | 7 | 0, not run: of c | `x` |",
        "| load | 0 | not run | `python -m benchmarks.hardening load` |",
    ]
    text = full_table(tmp_path, ["readers", "load"])
    assert "`x`: share 0.5, seed 3, commit 0a1b, on 2026-11-21\n" in text
    assert "| graphs | 1,200 | 0 tracebacks, 2 hangs | longest 0.4 s |\n" in text
    assert "| others | 0 | not run |  |\n" in text
    assert text.endswith("## load\nnot run\n")
    assert missing(tmp_path, ["readers", "load"]) == [
        "readers: graphs: 1,200 tried, 0 tracebacks, 2 hangs; longest 0.4 s",
        "readers: others: not run",
        "readers: of a: 0.5 of the whole",
        "readers: of b: 0.5 of the whole",
        "readers: of c: not run",
        "load: not run",
    ]


def test_rows_of_several_commits_or_of_a_changed_tree_are_incomplete(tmp_path: Path) -> None:
    row = Row("graphs", 1200, {"hangs": 0})
    for part, commit in (("readers", "0a1b"), ("load", "0a1b"), ("solvers", "2c3d-dirty")):
        save_rows(tmp_path / f"{part}.json", [(row, Run("x", 1.0, 0, commit, "2026-11-21"))])
    assert missing(tmp_path, ["readers", "load"]) == []
    assert missing(tmp_path, ["readers", "load", "solvers"]) == [
        "rows of 2 commits: 0a1b, 2c3d-dirty",
        "rows of a tree with changes: 2c3d-dirty",
    ]


ROW = Row("graphs", 1200, {"tracebacks": 0, "hangs": 0}, {"longest": "0.4 s"})


@pytest.mark.parametrize(
    ("row", "good"),
    [(ROW, True), (Row("graphs", 0, {"hangs": 0}), False), (Row("graphs", 9, {"hangs": 1}), False)],
)
def test_a_good_row_has_tries_and_no_faults(row: Row, good: bool) -> None:
    assert row.good is good


def test_rows_are_saved_with_their_run(tmp_path: Path) -> None:
    first, second = Run.of("readers", 1.0, 0), Run.of("readers", 0.5, 3)
    assert first.command == "python -m benchmarks.hardening readers"
    assert second.command == "python -m benchmarks.hardening readers --share 0.5 --seed 3"
    path, other = tmp_path / "a.json", Row("others", 7, {})
    assert read_rows(path) == []
    save_rows(path, [(ROW, first), (other, first)])
    again = Row("graphs", 600, {"tracebacks": 0, "hangs": 0})
    save_rows(path, [(again, second)])
    assert read_rows(path) == [(again, second), (other, first)]
    save_rows(path, [(again, second)], replace_all=True)
    assert read_rows(path) == [(again, second)]
