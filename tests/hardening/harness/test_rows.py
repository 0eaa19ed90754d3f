"""Rows: only rows with tries can be good, and rows are saved with their run."""

from pathlib import Path

import pytest

from benchmarks.hardening.harness.rows import Row, Run, read_rows, save_rows

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
