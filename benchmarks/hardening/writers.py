"""Whatever stops a command, the last good file stays, and a run goes on as if nothing had been."""

import random
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.hardening import disks, pairs, warm
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.interrupts import interrupt
from benchmarks.hardening.kills import kill_leaders, kill_training, kill_writers
from benchmarks.hardening.mounts import own_mounts
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import resuming, training
from benchmarks.hardening.writing import Command
from benchmarks.hardening.writing_commands import comparing, generating, make_inputs, placing

TRAIN_KILLS, KILLS, LEADER_KILLS = 200, 50, 30
CTRL_C, TERMINATED, FULL, READ_ONLY, PAIRS = 50, 50, 20, 20, 20
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",  # what forks has a single thread
    "OPENBLAS_NUM_THREADS": "1",
}


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Stop `train`, `generate`, `compare` and `place` in every way, and look at what is left."""
    chance = random.Random(seed)
    with ExitStack() as later:
        folder = Path(later.enter_context(tempfile.TemporaryDirectory(prefix="streamplace-")))
        mounts = later.enter_context(own_mounts())
        forks = later.enter_context(Forks(ENVIRONMENT, warm.WRITING))
        second = later.enter_context(Forks(ENVIRONMENT, warm.WRITING))
        yield from stopped((forks, second), folder, share, chance, mounts=mounts)


def stopped(
    both: tuple[Forks, Forks], folder: Path, share: float, chance: random.Random, *, mounts: bool
) -> Iterator[Row]:
    """Yield what was counted, a line for each way of stopping; what takes longest comes last.

    Parameters
    ----------
    mounts
        Whether disks may be mounted.
    """

    def some(count: int) -> int:
        return max(1, round(count * share))

    forks, inputs = both[0], folder / "inputs"
    make_inputs(forks, inputs)
    train, expected = training(forks, inputs, folder)
    place = placing(forks, inputs, folder)
    generate, compare = generating(forks, inputs, folder), comparing(forks, inputs, folder)
    many = [generating(forks, inputs, folder, 2), comparing(forks, inputs, folder, 2)]
    every = [train, place, generate, compare]
    yield from kill_writers(forks, [generate, compare, place], some(KILLS), chance)
    yield from kill_leaders(forks, many, some(LEADER_KILLS), chance)
    for number, count in ((signal.SIGINT, CTRL_C), (signal.SIGTERM, TERMINATED)):
        yield interrupt(forks, [*every, *many], expected, number, some(count), chance)
    if mounts:
        on_disks: list[Command] = [resuming(forks, train), place, generate, compare]
        yield disks.full(forks, on_disks, expected, some(FULL), chance)
        yield disks.read_only(forks, on_disks, some(READ_ONLY))
    else:
        yield from disks.not_run()
    yield pairs.one_folder(both, [train, compare], expected, some(PAIRS))
    yield pairs.one_file(both, [place, generate], some(PAIRS), chance)
    yield from kill_training(forks, train, expected, some(TRAIN_KILLS), chance)
