"""Failures of a part of the campaign, which are reported together with its rows."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.hardening import __main__ as command
from benchmarks.hardening.harness.rows import Row, read_rows

NAME = "failing"


def rows(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield one row, then fail."""
    yield Row("first", 3, {"hangs": 0})
    raise RuntimeError("of the harness")


def test_a_part_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = ModuleType(f"benchmarks.hardening.campaigns.{NAME}.campaign")
    part.run = rows  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, part.__name__, part)
    monkeypatch.setattr(command, "PARTS", (NAME,))
    words = ["hardening", NAME, "--share", "0.5", "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    assert command.main() == 1
    (first, run), (second, _) = read_rows(tmp_path / f"{NAME}.json")
    assert (first.good, second.good) == (True, False)
    assert "RuntimeError: of the harness" in second.faults[0]
    assert run.share == 0.5
