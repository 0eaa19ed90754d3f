"""README and RESULTS.md tell what was counted."""

from pathlib import Path

import pytest

from benchmarks.hardening.__main__ import FOLDER, PARTS
from benchmarks.hardening.rows import Row, write_rows
from benchmarks.hardening.tables import found, full, summary, written


@pytest.mark.parametrize("path", written(FOLDER, PARTS), ids=lambda path: path.name)
def test_they_tell_what_was_counted(path: Path) -> None:
    assert path.read_text() == written(FOLDER, PARTS)[path]


@pytest.mark.parametrize("part", PARTS)
def test_nothing_went_wrong(part: str) -> None:
    for row in found(FOLDER, part)[0]:
        assert not any(row.wrong.values()), row.what


def test_what_went_wrong_or_was_not_run_is_told(tmp_path: Path) -> None:
    rows = [
        Row("graphs", 1200, {"tracebacks": 0, "hangs": 2}, {"longest": "0.4 s"}),
        Row("others", 0, {"tracebacks": 0, "hangs": 0}),
    ]
    write_rows(tmp_path / "readers.json", rows, command="x", share=0.5, seed=3)
    told = summary(tmp_path, ["readers", "load"]).splitlines()[2:]
    command = "`python -m benchmarks.hardening"
    assert told == [
        f"| readers | 0.5 | 1,200 | 2 hangs; not run: others | {command} readers` |",
        f"| load | 0 | 0 | not run | {command} load` |",
    ]
    text = full(tmp_path, ["readers", "load"])
    assert "`x`, share 0.5, seed 3\n" in text
    assert "| graphs | 1,200 | 0 tracebacks, 2 hangs | longest 0.4 s |\n" in text
    assert "| others | 0 | not run |  |\n" in text
    assert text.endswith("## load\nnot run\n")
