"""Disks that are full, and folders that take no files."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.mounts import make_read_only, mount, unmount
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import FILLING, LIMIT_S, goes_on, unfinished
from benchmarks.hardening.turns import Attempt, in_turn
from benchmarks.hardening.writing import Command

PAGE = 4096
ROOM = 64 * PAGE  # beyond what is there
TRIES = 10
FULL, READ_ONLY = "a full disk", "a read-only folder"


def full(
    forks: Forks, commands: list[Command], expected: str, count: int, chance: random.Random
) -> Row:
    """Let a disk be full before a command, or become full while it writes.

    Parameters
    ----------
    expected
        The hash of the parameters that `train` ends with.
    """

    def attempt(command: Command) -> Attempt:
        free = chance.randrange(0, max(_pages(command.new), 2 * PAGE), PAGE)
        with _disk(command):
            _leave(command.folder, free)
            before = command.entries()
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            if ended.code == 0:
                found = unfinished(command, ended, before, expected)
            else:
                found = list(_faults(command, ended, "No space left on device"))
                if command.name.startswith("train"):
                    found += goes_on(forks, command, expected)
        return Attempt(f"{free} bytes free", found, ended.code != 0)

    faults, room = in_turn(commands, count, attempt, TRIES)
    return Row(FULL, count, {"not clean": len(faults)}, {"had room": str(room)}, faults)


def read_only(forks: Forks, commands: list[Command], count: int) -> Row:
    """Let a folder be on a disk that nobody may write to."""

    def attempt(command: Command) -> Attempt:
        with _disk(command):
            make_read_only(command.folder)
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            return Attempt("read-only", list(_faults(command, ended, "cannot be written")))

    faults, _ = in_turn(commands, count, attempt)
    return Row(READ_ONLY, count, {"not clean": len(faults)}, {}, faults)


def not_run() -> Iterator[Row]:
    """Yield what stands in the table where no disks may be mounted."""
    for what in (FULL, READ_ONLY):
        yield Row(f"{what} (needs root on Linux)", 0, {"not clean": 0}, {"not run": "is not root"})


@contextmanager
def _disk(command: Command) -> Iterator[None]:
    """Mount a small disk where a command writes, with what was there before on it."""
    mount(command.folder, _pages(command.old) + _pages(command.new) + ROOM)
    try:
        command.restore()
        yield
    finally:
        unmount(command.folder)


def _pages(files: Mapping[str, bytes | None]) -> int:
    return sum((len(data or b"") // PAGE + 1) * PAGE for data in files.values())


def _leave(folder: Path, free: int) -> None:
    """Fill a disk but for so many bytes."""
    (folder / FILLING).mkdir()
    filling = folder / FILLING / "zeros"
    with filling.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        file.truncate(max(0, file.tell() - free))


def _faults(command: Command, ended: Ended, said: str) -> Iterator[str]:
    if ended.code == 0:
        yield "says that it is done"
    elif ended.code != 2 or ended.hung:
        yield f"exit {ended.code}: {ended.err!r}"
    elif ended.err.count("\n") != 1 or said not in ended.err:
        yield f"says {ended.err!r}"
    yield from command.faults()
    if found := temporaries(command.folder):
        yield f"leaves {found}"
