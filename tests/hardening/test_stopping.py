"""A few interrupts of commands that write, full and read-only disks, and two writers at once."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hardening import disks, interrupts, pairs, warm
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.interrupts import faults, interrupt, is_line
from benchmarks.hardening.pairs import Both
from benchmarks.hardening.training_runs import resuming, unfinished
from benchmarks.hardening.writers import ENVIRONMENT
from benchmarks.hardening.writing import Command, done
from tests.hardening.stopping import folder, forks, inputs, place, train

__all__ = ["folder", "forks", "inputs", "place", "train"]
FEW = 2

NOBODY = [
    sys.executable,
    "-c",
    """
import os
from benchmarks.hardening.mounts import own_mounts
if os.geteuid() == 0:
    os.setuid(65534)
with own_mounts() as own:
    print(own)
""",
]

mounts = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount small disks")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(
    number: signal.Signals, forks: Forks, train: tuple[Command, str], place: Command
) -> None:
    commands = [train[0], place] if number == signal.SIGINT else [place]
    row = interrupt(forks, commands, train[1], number, FEW, random.Random(4))
    assert row.good, row.faults


def test_a_signal_that_is_always_late_is_noticed(
    forks: Forks, place: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "TRIES", 3)
    slow = replace(place, seconds=1e6)
    row = interrupt(forks, [slow], "", signal.SIGTERM, 1, random.Random(4))
    assert not row.good
    assert "comes too late, 3 times" in row.faults[0]


def test_training_that_only_says_it_is_done_is_noticed(
    forks: Forks, train: tuple[Command, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are never the same twice: what it ended with tells whether it did all steps."""
    command, expected = train
    command.restore()
    ended, idle = (done(forks.run(*words)) for words in (command.words, ("--version",)))
    assert unfinished(command, ended, set(), expected) == []
    (told,) = unfinished(command, ended, set(), "another")
    assert told == "says that it is done: other parameters"
    (told,) = unfinished(command, idle, set(), expected)
    assert told.startswith("says that it is done: tells no parameters")
    monkeypatch.setattr(interrupts, "TRIES", 1)
    slow = replace(command, seconds=1e6)
    row = interrupt(forks, [slow], "another", signal.SIGINT, 1, random.Random(4))
    assert any("other parameters" in fault for fault in row.faults)


def test_a_command_that_is_done_without_a_file_is_noticed(forks: Forks, place: Command) -> None:
    place.restore()
    before = place.entries()
    ended = done(forks.run(*place.words))
    assert unfinished(place, ended, before, "") == []
    assert "never writes ['placement.json']" in unfinished(place, ended, place.entries(), "")[0]


def test_the_signal_itself_may_end_what_has_done_nothing(forks: Forks, place: Command) -> None:
    """Ctrl-C in the second before anything is loaded; not once something was written or said."""
    place.restore()
    before = place.entries()
    ended = replace(done(forks.run("--version")), out="", code=-signal.SIGINT)
    assert list(faults(place, ended, before, signal.SIGINT)) == []
    (told,) = faults(place, replace(ended, err="half a"), before, signal.SIGINT)
    assert "having said 'half a'" in told
    assert "exit -2" in next(faults(place, ended, before, signal.SIGTERM))
    done(forks.run(*place.words))
    (told,) = faults(place, ended, before, signal.SIGINT)
    assert "having written ['placement.json']" in told


@mounts
def test_a_full_disk(forks: Forks, train: tuple[Command, str], place: Command) -> None:
    commands = [resuming(forks, train[0]), place]
    row = disks.full(forks, commands, train[1], FEW, random.Random(5))
    assert row.good, row.faults


@mounts
def test_a_read_only_folder(forks: Forks, place: Command) -> None:
    row = disks.read_only(forks, [place], FEW)
    assert row.good, row.faults


@mounts
def test_a_command_that_does_not_write_is_noticed(forks: Forks, place: Command) -> None:
    idle = replace(place, words=("--version",))
    assert not disks.read_only(forks, [idle], 1).good


def test_without_root_disks_are_not_tried() -> None:
    """What may not mount goes on without, and the table tells of it."""
    ended = subprocess.run(NOBODY, capture_output=True, text=True, check=False)
    assert ended.stdout == "False\n", ended.stderr
    rows = list(disks.not_run())
    assert [(row.tried, row.good) for row in rows] == [(0, False)] * 2
    assert all("(needs root on Linux)" in row.what for row in rows)


@pytest.fixture(scope="module")
def second() -> Iterator[Forks]:
    """Return another process that forks."""
    with Forks(ENVIRONMENT, warm.WRITING) as forks:
        yield forks


def test_two_into_one_folder(forks: Forks, second: Forks, train: tuple[Command, str]) -> None:
    row = pairs.one_folder((forks, second), [train[0]], train[1], FEW)
    assert row.good, row.faults


def test_two_into_one_file(forks: Forks, second: Forks, place: Command) -> None:
    row = pairs.one_file((forks, second), [place], FEW, random.Random(6))
    assert row.good, row.faults


def test_two_that_never_meet_do_not_count(
    forks: Forks, second: Forks, place: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_turn(both: tuple[Forks, Forks], folder: Path, *jobs: tuple[str, ...]) -> Both:
        alone = [one.run(*words) for one, words in zip(both, jobs, strict=True)]
        return Both(alone, 1)

    monkeypatch.setattr(pairs, "together", in_turn)
    monkeypatch.setattr(pairs, "TRIES", 2)
    row = pairs.one_file((forks, second), [place], 1, random.Random(6))
    assert not row.good
    assert "comes too late, 2 times" in row.faults[0]
    assert row.figures["one after the other"] == "2"


def test_what_is_half_written_at_one_moment_is_seen(
    forks: Forks, second: Forks, place: Command
) -> None:
    place.restore()
    both = pairs.together((forks, second), place.folder, place.words, ("--version",))
    assert [one.code for one in both.ended] == [0, 0]
    assert both.half_written == 1


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
def test_a_line_and_nothing_else(err: str, good: bool) -> None:
    assert is_line(err, "streamplace: interrupted") is good
