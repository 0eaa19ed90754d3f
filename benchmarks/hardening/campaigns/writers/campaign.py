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
    clusters_command,
    compare_command,
    gantt_command,
    generate_command,
    place_command,
    table_command,
    write_inputs,
)
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.mounts import own_mounts
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets import warm_up

# trials of each kind in the whole campaign; KILLS counts those of each command
TRAIN_KILLS, KILLS, PARENT_KILLS = 200, 50, 30
CTRL_C, TERMINATED, FULL, READ_ONLY, PAIRS = 50, 50, 20, 20, 20
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",  # a fork server must have a single thread
    "OPENBLAS_NUM_THREADS": "1",
}


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Stop `train`, `generate`, `compare` and `place` in all ways, and check their files."""
    rng = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streamplace-")))
        mounts = stack.enter_context(own_mounts())
        forks = stack.enter_context(Forks(ENVIRONMENT, warm_up.WRITING))
        second = stack.enter_context(Forks(ENVIRONMENT, warm_up.WRITING))
        yield from stopped_rows((forks, second), folder, share, rng, mounts=mounts)


def stopped_rows(
    fork_servers: tuple[Forks, Forks],
    folder: Path,
    share: float,
    rng: random.Random,
    *,
    mounts: bool,
) -> Iterator[Row]:
    """Yield one row per way of stopping, the slowest last.

    Parameters
    ----------
    fork_servers
        Two servers that run commands; the second is for commands that run at the same time.
    folder
        A folder for the inputs and outputs of the commands.
    share
        The fraction of the whole campaign, 0 to 1.
    mounts
        Whether this process can mount disks.
    """

    def scaled(count: int) -> int:
        return max(1, round(count * share))

    forks, inputs = fork_servers[0], folder / "inputs"
    write_inputs(forks, inputs)
    train, expected = train_command(forks, inputs, folder)
    place = place_command(forks, inputs, folder)
    generate, compare = (
        generate_command(forks, inputs, folder),
        compare_command(forks, inputs, folder),
    )
    parallel = [
        generate_command(forks, inputs, folder, 2),
        compare_command(forks, inputs, folder, 2),
    ]
    serial = [train, place, generate, compare]
    clusters, gantt = clusters_command(forks, folder), gantt_command(forks, inputs, folder)
    writers = [generate, compare, place, clusters, gantt, table_command(forks, inputs, folder)]
    yield from kill_writers(forks, writers, scaled(KILLS), rng)
    yield from kill_parents(forks, parallel, scaled(PARENT_KILLS), rng)
    for number, count in ((signal.SIGINT, CTRL_C), (signal.SIGTERM, TERMINATED)):
        yield interrupt(forks, [*serial, *parallel], expected, number, scaled(count), rng)
    if mounts:
        on_disks: list[WritingCommand] = [
            resume_command(forks, train),
            place,
            generate,
            compare,
            gantt,
        ]
        yield disks.full_disk_row(forks, on_disks, expected, scaled(FULL), rng)
        yield disks.read_only_row(forks, on_disks, scaled(READ_ONLY))
    else:
        yield from disks.skipped_rows()
    yield concurrent_writers.one_folder(fork_servers, [train, compare], expected, scaled(PAIRS))
    yield concurrent_writers.one_file(fork_servers, [place, generate], scaled(PAIRS), rng)
    yield from kill_training(forks, train, expected, scaled(TRAIN_KILLS), rng)
