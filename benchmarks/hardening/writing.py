"""Commands that write, what they wrote before, and whether what lies there now is whole."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.unreadable import unreadable

TIMED = ("compare.json", "table.csv")  # tell how long it took
Entries = set[tuple[str, int, int, int]]


@dataclass(frozen=True)
class Command:
    """A command that writes one file, or files into one folder.

    Parameters
    ----------
    words
        Its arguments.
    target
        The file or folder.
    old, new
        The bytes of the files by name, before it and after; none where they are not always the
        same.
    seconds
        Until its last file is written.
    before
        The arguments that made the older files.
    """

    name: str
    words: tuple[str, ...]
    target: Path
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]
    seconds: float
    before: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its temporaries are."""
        return self.target if self.target.suffix == "" else self.target.parent

    def restore(self) -> None:
        """Put what was there before into its place, and nothing else."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, data in self.old.items():
            if data is not None:
                (self.folder / name).write_bytes(data)

    def entries(self) -> Entries:
        """Return the files that lie there now, told from any that take their places."""
        found = ((path.name, path.stat()) for path in self.folder.iterdir() if path.is_file())
        return {(name, about.st_ino, about.st_size, about.st_mtime_ns) for name, about in found}

    def written_since(self, before: Entries) -> set[str]:
        """Return the names of the files that are new since, or other ones."""
        return {name for name, *_ in self.entries() - before}

    def faults(self) -> list[str]:
        """Return what is wrong with what lies there now."""
        there = {path.name for path in self.folder.iterdir() if path.is_file()}
        there -= temporaries(self.folder)
        found = [f"{name} is lost" for name in sorted(set(self.old) - there)]
        for name in sorted(there):
            path = self.folder / name
            if path.read_bytes() in (self.old.get(name), self.new.get(name)):
                continue
            if self.new.get(name) is not None:
                found.append(f"{name} is neither as before nor as after")
            elif fault := unreadable(path):
                found.append(f"{name}: {fault}")
        return found

    def over(self) -> bool:
        """Return whether all that it writes has been written."""
        return all(
            (self.folder / name).read_bytes() == data
            for name, data in self.new.items()
            if data is not None
        )


def measured(
    forks: Forks,
    name: str,
    words: tuple[str, ...],
    old: tuple[str, ...],
    new: tuple[str, ...],
    target: Path,
) -> Command:
    """Run a command over what it wrote with other options, and tell what it writes, and when.

    Parameters
    ----------
    words
        Its arguments, but for the target.
    old, new
        The options, before and now.
    """
    folder = target if target.suffix == "" else target.parent
    folder.mkdir(parents=True)
    done(forks.run(*words, target, *old))
    before = _files(folder)
    begin = time.time()
    done(forks.run(*words, target, *new))
    after, seconds = _files(folder), since(begin, folder)
    steady = {name: data if name not in TIMED else None for name, data in after.items()}
    now, then = ((*words, str(target), *more) for more in (new, old))
    return Command(name, now, target, before, steady, seconds, then)


def since(begin: float, folder: Path) -> float:
    """Return the seconds from a moment to when the last file of a folder was written."""
    return max(path.stat().st_mtime for path in folder.iterdir()) - begin


def _files(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def done(ended: Ended) -> Ended:
    """Return how a command ended, if well.

    Raises
    ------
    RuntimeError
        If it did not.
    """
    if ended.code:
        raise RuntimeError(f"exit {ended.code}: {ended.err}")
    return ended
