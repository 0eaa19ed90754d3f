"""A part that fails is told, with what it had counted, and keeps no other from running."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.hardening import __main__ as campaign
from benchmarks.hardening.rows import Row, read


def rows(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield one row, then fail."""
    yield Row("first", 3, {"hangs": 0})
    raise RuntimeError("of the harness")


def test_a_part_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = ModuleType("benchmarks.hardening.failing")
    part.run = rows  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, part.__name__, part)
    monkeypatch.setattr(campaign, "PARTS", ("failing",))
    words = ["hardening", "failing", "--share", "0.5", "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    assert campaign.main() == 1
    (first, run), (second, _) = read(tmp_path / "failing.json")
    assert (first.good, second.good) == (True, False)
    assert "RuntimeError: of the harness" in second.faults[0]
    assert run.share == 0.5
