"""A few interrupts of commands that write, full and read-only disks, and two writers at once."""

import os
import random
import signal
from dataclasses import replace

import pytest

from benchmarks.hardening import disks, pairs
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.interrupts import interrupt, is_line
from benchmarks.hardening.writing import Command, resuming
from tests.hardening.stopping import folder, forks, inputs, place, train

__all__ = ["folder", "forks", "inputs", "place", "train"]
FEW = 2

mounts = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount small disks")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(
    number: signal.Signals, forks: Forks, train: tuple[Command, str], place: Command
) -> None:
    commands = [train[0], place] if number == signal.SIGINT else [place]
    row = interrupt(forks, commands, train[1], number, FEW, random.Random(4))
    assert row.good, row.faults


def test_a_signal_that_is_always_late_is_noticed(forks: Forks, place: Command) -> None:
    slow = replace(place, seconds=1e6)
    row = interrupt(forks, [slow], "", signal.SIGTERM, 1, random.Random(4))
    assert not row.good
    assert "is over whenever the signal comes" in row.faults[0]


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


def test_two_into_one_file(forks: Forks, place: Command) -> None:
    with Forks() as second:
        row = pairs.one_file((forks, second), [place], FEW, random.Random(6))
    assert row.good, row.faults


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
