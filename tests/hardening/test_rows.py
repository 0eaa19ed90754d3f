"""The table says what was counted, and nothing is good that was not tried."""

from pathlib import Path

import pytest

from benchmarks.hardening.rows import Row, read_rows, write_rows

ROW = Row("graphs", 1200, {"tracebacks": 0, "hangs": 0}, {"longest": "0.4 s"})


@pytest.mark.parametrize(
    ("row", "good"),
    [(ROW, True), (Row("graphs", 0, {"hangs": 0}), False), (Row("graphs", 9, {"hangs": 1}), False)],
)
def test_good_is_tried_and_nothing_wrong(row: Row, good: bool) -> None:
    assert row.good is good


def test_written_and_read(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.json", [ROW], seed=3)
    assert read_rows(tmp_path / "a.json") == ([ROW], {"seed": 3})
