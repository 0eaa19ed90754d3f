"""Writers on full disks, and several at once."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.writers import concurrent_writers, disks
from benchmarks.hardening.campaigns.writers.campaign import ENVIRONMENT
from benchmarks.hardening.campaigns.writers.concurrent_writers import ConcurrentRuns
from benchmarks.hardening.campaigns.writers.training_runs import resume_command
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.targets import warm_up

FEW = 2
UNPRIVILEGED = [
    sys.executable,
    "-c",
    """
import os
from benchmarks.hardening.harness.mounts import own_mounts
if os.geteuid() == 0:
    os.setuid(65534)
with own_mounts() as own:
    print(own)
""",
]
mounts = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount small disks")


@mounts
def test_a_full_disk(
    forks: Forks, train: tuple[WritingCommand, str], place: WritingCommand
) -> None:
    commands = [resume_command(forks, train[0]), place]
    row = disks.full_disk_row(forks, commands, train[1], FEW, random.Random(5))
    assert row.good, row.faults


@mounts
def test_a_read_only_folder(forks: Forks, place: WritingCommand) -> None:
    row = disks.read_only_row(forks, [place], FEW)
    assert row.good, row.faults


@mounts
def test_a_command_that_does_not_write_is_noticed(forks: Forks, place: WritingCommand) -> None:
    idle = replace(place, words=("--version",))
    assert not disks.read_only_row(forks, [idle], 1).good


def test_without_root_disks_are_not_tried() -> None:
    """A process that cannot mount disks continues without them, and the table says so."""
    ended = subprocess.run(UNPRIVILEGED, capture_output=True, text=True, check=False)
    assert ended.stdout == "False\n", ended.stderr
    rows = list(disks.skipped_rows())
    assert [(row.tried, row.good) for row in rows] == [(0, False)] * 2
    assert all("(needs root on Linux)" in row.what for row in rows)


@pytest.fixture(scope="module")
def second() -> Iterator[Forks]:
    """Return another fork server."""
    with Forks(ENVIRONMENT, warm_up.WRITING) as forks:
        yield forks


def test_two_processes_write_into_one_folder(
    forks: Forks, second: Forks, train: tuple[WritingCommand, str]
) -> None:
    row = concurrent_writers.one_folder((forks, second), [train[0]], train[1], FEW)
    assert row.good, row.faults


def test_two_processes_write_one_file(forks: Forks, second: Forks, place: WritingCommand) -> None:
    row = concurrent_writers.one_file((forks, second), [place], FEW, random.Random(6))
    assert row.good, row.faults


def test_writers_that_never_coincide_do_not_count(
    forks: Forks, second: Forks, place: WritingCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_turn(both: tuple[Forks, Forks], folder: Path, *jobs: tuple[str, ...]) -> ConcurrentRuns:
        alone = [one.run(*words) for one, words in zip(both, jobs, strict=True)]
        return ConcurrentRuns(alone, 1)

    monkeypatch.setattr(concurrent_writers, "run_together", in_turn)
    monkeypatch.setattr(concurrent_writers, "TRIES", 2)
    row = concurrent_writers.one_file((forks, second), [place], 1, random.Random(6))
    assert not row.good
    assert "2 attempts at the wrong moment" in row.faults[0]
    assert row.figures["not counted: one after the other"] == "2"


def test_temporary_files_are_counted(forks: Forks, second: Forks, place: WritingCommand) -> None:
    place.restore()
    both = concurrent_writers.run_together(
        (forks, second), place.folder, place.words, ("--version",)
    )
    assert [one.code for one in both.ended] == [0, 0]
    assert both.most_temporaries == 1
