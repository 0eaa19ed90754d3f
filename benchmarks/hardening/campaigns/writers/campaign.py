"""Commands stopped while they write: the last complete file survives, and a run can be resumed."""

import random
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.hardening.campaigns.writers import concurrent_writers, disks
from benchmarks.hardening.campaigns.writers.interrupts import interrupt
from benchmarks.hardening.campaigns.writers.kills import kill_parents, kill_training, kill_writers
from benchmarks.hardening.campaigns.writers.training_runs import resume_command, train_command
from benchmarks.hardening.campaigns.writers.workloads import (
    compare_command,
    generate_command,
    place_command,
    write_inputs,
)
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.mounts import own_mounts
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets import warm_up

TRAIN_KILLS, KILLS, PARENT_KILLS = 200, 50, 30
CTRL_C, TERMINATED, FULL, READ_ONLY, PAIRS = 50, 50, 20, 20, 20  # numbers of trials
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",  # a fork server must have a single thread
    "OPENBLAS_NUM_THREADS": "1",
}


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Stop `train`, `generate`, `compare` and `place` in all ways, and check their files."""
    chance = random.Random(seed)
    with ExitStack() as later:
        folder = Path(later.enter_context(tempfile.TemporaryDirectory(prefix="streamplace-")))
        mounts = later.enter_context(own_mounts())
        forks = later.enter_context(Forks(ENVIRONMENT, warm_up.WRITING))
        second = later.enter_context(Forks(ENVIRONMENT, warm_up.WRITING))
        yield from stopped((forks, second), folder, share, chance, mounts=mounts)


def stopped(
    both: tuple[Forks, Forks], folder: Path, share: float, chance: random.Random, *, mounts: bool
) -> Iterator[Row]:
    """Yield one row per way of stopping, the slowest last.

    Parameters
    ----------
    mounts
        Whether this process can mount disks.
    """

    def some(count: int) -> int:
        return max(1, round(count * share))

    forks, inputs = both[0], folder / "inputs"
    write_inputs(forks, inputs)
    train, expected = train_command(forks, inputs, folder)
    place = place_command(forks, inputs, folder)
    generate, compare = (
        generate_command(forks, inputs, folder),
        compare_command(forks, inputs, folder),
    )
    many = [generate_command(forks, inputs, folder, 2), compare_command(forks, inputs, folder, 2)]
    every = [train, place, generate, compare]
    yield from kill_writers(forks, [generate, compare, place], some(KILLS), chance)
    yield from kill_parents(forks, many, some(PARENT_KILLS), chance)
    for number, count in ((signal.SIGINT, CTRL_C), (signal.SIGTERM, TERMINATED)):
        yield interrupt(forks, [*every, *many], expected, number, some(count), chance)
    if mounts:
        on_disks: list[WritingCommand] = [resume_command(forks, train), place, generate, compare]
        yield disks.full_disk_row(forks, on_disks, expected, some(FULL), chance)
        yield disks.read_only_row(forks, on_disks, some(READ_ONLY))
    else:
        yield from disks.skipped_rows()
    yield concurrent_writers.one_folder(both, [train, compare], expected, some(PAIRS))
    yield concurrent_writers.one_file(both, [place, generate], some(PAIRS), chance)
    yield from kill_training(forks, train, expected, some(TRAIN_KILLS), chance)
