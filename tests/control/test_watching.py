"""Signals during an action on a scripted Flink."""

import signal
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.journal import ENDED, Journal, read_entries
from streamplace.control.watching import held_back, not_lost
from tests.support.flink_actions import HOSTS, quick, watched
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


class Signalled(Journal):
    """A journal whose writer gets signals when the job has stopped."""

    left = 1

    def write(self, at_s: float, step: str, **details: Any) -> None:
        super().write(at_s, step, **details)
        if details.get("savepoint"):
            for _ in range(self.left):
                signal.raise_signal(signal.SIGINT)
            self.left = 0


def test_a_signal_waits_for_the_end_of_an_action(tmp_path: Path) -> None:
    flink = ScriptedFlink(load=Load(200.0, {"count": 0.009}), reports_waiting=True)
    with watched(flink, ManualClock(), tmp_path, journal=Signalled) as (watching, lines):
        with pytest.raises(KeyboardInterrupt):
            watching.run(8)
        assert flink.running[watching.job].hosts == HOSTS
    assert read_entries(tmp_path / "journal.jsonl")[0][-1].step == ENDED
    assert "an action is under way, which ends first; a second signal interrupts it" in lines


def test_a_second_signal_interrupts_an_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Signalled, "left", 2)
    flink = ScriptedFlink(load=Load(200.0, {"count": 0.009}), reports_waiting=True)
    with (
        watched(flink, ManualClock(), tmp_path, journal=Signalled) as (watching, lines),
        pytest.raises(KeyboardInterrupt),
    ):
        watching.run(8)
    assert flink.running == {}
    assert lines[-1] == (
        f"the action on job {JOB} has not ended, which may be stopped; the same command goes on "
        "with it"
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_in_a_finaliser_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ignores its exception, as it may be while the page is drawn."""

    class Drawn:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    shown: list[object] = []

    def draw(*decision: object) -> None:
        shown.append(decision)
        if len(shown) == 2:
            Drawn()

    flink = ScriptedFlink(load=Load(100.0, {"count": 0.005}), reports_waiting=True)
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        monkeypatch.setattr(watching.events, "decided", draw)
        with pytest.raises(KeyboardInterrupt):
            watching.run(5)
    assert len(shown) == 2


@pytest.mark.parametrize("block", [held_back(print), not_lost()])
def test_handlers_are_as_before(block: AbstractContextManager[object]) -> None:
    former = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with block:
        assert signal.getsignal(signal.SIGINT) != former[0]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == former


def test_other_threads_are_left_alone() -> None:
    handlers: list[object] = []

    def run() -> None:
        with held_back(print):
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]
