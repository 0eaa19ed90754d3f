"""Interrupts of commands that write, and faults of interrupted commands are counted."""

import random
import signal
from dataclasses import replace

import pytest

from benchmarks.hardening.campaigns.writers import interrupts
from benchmarks.hardening.campaigns.writers.interrupts import faults, interrupt, is_line
from benchmarks.hardening.campaigns.writers.training_runs import completion_faults
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand, check_success
from benchmarks.hardening.harness.forks import Forks

FEW = 2


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_commands(
    signum: signal.Signals, forks: Forks, train: tuple[WritingCommand, str], place: WritingCommand
) -> None:
    commands = [train[0], place] if signum == signal.SIGINT else [place]
    row = interrupt(forks, commands, train[1], signum, FEW, random.Random(4))
    assert row.good, row.faults


def test_a_signal_that_is_always_late_is_noticed(
    forks: Forks, place: WritingCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "TRIES", 3)
    slow = replace(place, seconds=1e6)
    row = interrupt(forks, [slow], "", signal.SIGTERM, 1, random.Random(4))
    assert not row.good
    assert "3 attempts at the wrong moment" in row.faults[0]


def test_training_that_reports_a_false_end_is_noticed(
    forks: Forks, train: tuple[WritingCommand, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of training vary, so only the final parameters show whether all steps were done."""
    command, expected = train
    command.restore()
    ended, idle = (check_success(forks.run(*words)) for words in (command.words, ("--version",)))
    assert completion_faults(command, ended, set(), expected) == []
    (fault_text,) = completion_faults(command, ended, set(), "another")
    assert fault_text == "reports success: other parameters"
    (fault_text,) = completion_faults(command, idle, set(), expected)
    assert fault_text.startswith("reports success: reports no parameter hash")
    monkeypatch.setattr(interrupts, "TRIES", 1)
    slow = replace(command, seconds=1e6)
    row = interrupt(forks, [slow], "another", signal.SIGINT, 1, random.Random(4))
    assert any("other parameters" in fault for fault in row.faults)


def test_success_without_a_file_is_noticed(forks: Forks, place: WritingCommand) -> None:
    place.restore()
    before = place.entries()
    ended = check_success(forks.run(*place.words))
    assert completion_faults(place, ended, before, "") == []
    assert (
        "never writes ['placement.json']" in completion_faults(place, ended, place.entries(), "")[0]
    )


def test_the_signal_itself_may_end_an_idle_command(forks: Forks, place: WritingCommand) -> None:
    """The signal may end a command before it loads anything, but not after a write or a message."""
    place.restore()
    before = place.entries()
    ended = replace(check_success(forks.run("--version")), out="", code=-signal.SIGINT)
    assert list(faults(place, ended, before, signal.SIGINT)) == []
    (fault_text,) = faults(place, replace(ended, err="half a"), before, signal.SIGINT)
    assert "after it printed 'half a'" in fault_text
    assert "exit -2" in next(faults(place, ended, before, signal.SIGTERM))
    check_success(forks.run(*place.words))
    (fault_text,) = faults(place, ended, before, signal.SIGINT)
    assert "after it wrote ['placement.json']" in fault_text


@pytest.mark.parametrize(
    ("err", "good"),
    [
        ("streamplace: interrupted; nothing\n", True),
        ("\nstreamplace: interrupted; nothing\n", True),
        ("", False),
        ("streamplace: interrupted\nTraceback\n", False),
        ("Traceback\nstreamplace: interrupted\n", False),
    ],
)
def test_a_message_is_one_line(err: str, good: bool) -> None:
    assert is_line(err, "streamplace: interrupted") is good
