"""Disks that are full, and folders that take no files."""

import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.kills import LIMIT_S
from benchmarks.hardening.mounts import make_read_only, mount, unmount
from benchmarks.hardening.rows import Row
from benchmarks.hardening.writing import Command, parameter_hash

PAGE = 4096
ROOM = 64 * PAGE  # beyond what is there
TRIES = 10


def full(
    forks: Forks, commands: list[Command], expected: str, count: int, chance: random.Random
) -> Row:
    """Let a disk be full before a command, or become full while it writes.

    Parameters
    ----------
    expected
        The hash of the parameters that `train` ends with.
    """
    faults: list[str] = []
    room = 0
    for i in range(count):
        command = commands[i % len(commands)]
        for _ in range(TRIES):
            with _disk(command):
                free = chance.randrange(0, max(_pages(command.new), 2 * PAGE), PAGE)
                _leave(command.folder, free)
                ended = forks.run(*command.words, limit_s=LIMIT_S)
                if ended.code == 0 and command.over():
                    room += 1
                    continue
                found = list(_faults(command, ended, "No space left on device"))
                if command.name.startswith("train"):
                    found += _taken_up(forks, command, expected, command.folder.with_name("away"))
            break
        else:
            found = ["has room every time"]
        faults += [f"{command.name}, {free} bytes free: {fault}" for fault in found]
    return Row("a full disk", count, {"not clean": len(faults)}, {"had room": str(room)}, faults)


def read_only(forks: Forks, commands: list[Command], count: int) -> Row:
    """Let a folder be on a disk that nobody may write to."""
    faults: list[str] = []
    for i in range(count):
        command = commands[i % len(commands)]
        with _disk(command):
            make_read_only(command.folder)
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            found = _faults(command, ended, "cannot be written")
            faults += [f"{command.name}: {fault}" for fault in found]
    return Row("a read-only folder", count, {"not clean": len(faults)}, {}, faults)


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
    (folder / "filling").mkdir()
    filling = folder / "filling" / "filling"
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


def _taken_up(forks: Forks, command: Command, expected: str, away: Path) -> Iterator[str]:
    """Go on with a copy of a run on a disk that has room."""
    shutil.copytree(command.target, away, ignore=shutil.ignore_patterns("filling"))
    words = [str(away) if word == str(command.target) else word for word in command.words]
    ended = forks.run(*words, limit_s=LIMIT_S)
    if ended.code or parameter_hash(ended) != expected:
        yield f"does not go on as before: exit {ended.code}: {ended.err!r}"
    shutil.rmtree(away)
