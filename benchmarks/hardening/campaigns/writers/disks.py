"""Commands that write to full disks and read-only folders."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.hardening.campaigns.writers.attempts import Attempt, make_attempts
from benchmarks.hardening.campaigns.writers.training_runs import (
    FILLING,
    LIMIT_S,
    completion_faults,
    resumption_faults,
)
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries
from benchmarks.hardening.harness.mounts import make_read_only, mount, unmount
from benchmarks.hardening.harness.rows import Row

PAGE = 4096  # bytes; a disk in memory (tmpfs) stores whole pages
ROOM = 64 * PAGE  # bytes of a disk in addition to those of the files
TRIES = 10  # attempts until the free space is too small for a command
FULL, READ_ONLY = "a full disk", "a read-only folder"


def full_disk_row(
    forks: Forks, commands: list[WritingCommand], expected: str, count: int, rng: random.Random
) -> Row:
    """Run commands on a disk that is full, or that fills up while they write.

    Parameters
    ----------
    expected
        The hash of the parameters at the end of `train`.
    """

    def attempt(command: WritingCommand) -> Attempt:
        free = rng.randrange(0, max(_page_bytes(command.new), 2 * PAGE), PAGE)
        with _disk(command):
            _fill(command.folder, free)
            before = command.entries()
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            if ended.code == 0:
                faults = completion_faults(command, ended, before, expected)
            else:
                faults = list(_faults(command, ended, "No space left on device"))
                if command.name.startswith("train"):
                    faults += resumption_faults(forks, command, expected)
        return Attempt(f"{free} bytes free", faults, ended.code != 0)

    faults, successes = make_attempts(commands, count, attempt, TRIES)
    return Row(
        FULL,
        count,
        {"with faults": len(faults)},
        {"not counted: enough space": str(successes)},
        faults,
    )


def read_only_row(forks: Forks, commands: list[WritingCommand], count: int) -> Row:
    """Run commands in a folder on a read-only disk."""

    def attempt(command: WritingCommand) -> Attempt:
        with _disk(command):
            make_read_only(command.folder)
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            return Attempt("read-only", list(_faults(command, ended, "cannot write")))

    faults, _ = make_attempts(commands, count, attempt)
    return Row(READ_ONLY, count, {"with faults": len(faults)}, {}, faults)


def skipped_rows() -> Iterator[Row]:
    """Yield the rows for a process that cannot mount disks."""
    for what in (FULL, READ_ONLY):
        yield Row(
            f"{what} (needs root on Linux)",
            0,
            {"with faults": 0},
            {"not run": "not root"},
        )


@contextmanager
def _disk(command: WritingCommand) -> Iterator[None]:
    """Mount a small disk where a command writes, and put its older files there."""
    mount(command.folder, _page_bytes(command.old) + _page_bytes(command.new) + ROOM)
    try:
        command.restore()
        yield
    finally:
        unmount(command.folder)


def _page_bytes(files: Mapping[str, bytes | None]) -> int:
    """Return the sum of the sizes of files, each rounded up to whole pages, in bytes."""
    return sum((len(data or b"") // PAGE + 1) * PAGE for data in files.values())


def _fill(folder: Path, free: int) -> None:
    """Fill a disk up to a number of free bytes."""
    (folder / FILLING).mkdir()
    filling = folder / FILLING / "zeros"
    with filling.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        file.truncate(max(0, file.tell() - free))


def _faults(command: WritingCommand, ended: Ended, message: str) -> Iterator[str]:
    """Yield the faults of a command that must fail with a one-line message."""
    if ended.code == 0:
        yield "reports success"
    elif ended.code != 2 or ended.hung:
        yield f"exit {ended.code}: {ended.err!r}"
    elif ended.err.count("\n") != 1 or message not in ended.err:
        yield f"prints {ended.err!r}"
    yield from command.faults()
    if remaining := temporaries(command.folder):
        yield f"leaves {remaining}"
