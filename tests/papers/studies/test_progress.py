"""Tests for lines about progress."""

import pytest

from streamplace.papers.studies import run
from streamplace.papers.studies.run import TimeLeft, duration


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
