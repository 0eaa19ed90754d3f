"""Commands that write to full and read-only disks."""

import os
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.hardening.campaigns.writers import disks
from benchmarks.hardening.campaigns.writers.training_runs import resume_command
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Forks

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
