"""A command that writes files, its older output, and checks of the resulting files."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.campaigns.writers.file_checks import unreadable
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries

TIMED = ("compare.json", "table.csv")  # contain run times, and so differ between runs
Entries = set[tuple[str, int, int, int]]
"""Name, inode, size in bytes and modification time in ns of each file."""


@dataclass(frozen=True)
class WritingCommand:
    """A command that writes one file, or files into one folder.

    Parameters
    ----------
    words
        The arguments.
    target
        The file or folder.
    old, new
        The bytes of the files before and after, by name; None if they differ between runs.
    seconds
        The seconds until the last file is written.
    old_words
        The arguments that produced the older files.
    """

    name: str
    words: tuple[str, ...]
    target: Path
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]
    seconds: float
    old_words: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder in which the command writes its files, including temporary ones."""
        return self.target if self.target.suffix == "" else self.target.parent

    def restore(self) -> None:
        """Restore the older files, and remove all others."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, data in self.old.items():
            if data is not None:
                (self.folder / name).write_bytes(data)

    def entries(self) -> Entries:
        """Return the identities of the files in the folder; a replaced file has a new identity."""
        stats = ((path.name, path.stat()) for path in self.folder.iterdir() if path.is_file())
        return {(name, about.st_ino, about.st_size, about.st_mtime_ns) for name, about in stats}

    def written_since(self, before: Entries) -> set[str]:
        """Return the names of the files that were added or replaced since `before`."""
        return {name for name, *_ in self.entries() - before}

    def faults(self) -> list[str]:
        """Return the faults of the files in the folder."""
        existing = {path.name for path in self.folder.iterdir() if path.is_file()}
        existing -= temporaries(self.folder)
        faults = [f"{name} is lost" for name in sorted(set(self.old) - existing)]
        for name in sorted(existing):
            path = self.folder / name
            if path.read_bytes() in (self.old.get(name), self.new.get(name)):
                continue
            if self.new.get(name) is not None:
                faults.append(f"{name} has neither its old nor its new content")
            elif fault := unreadable(path):
                faults.append(f"{name}: {fault}")
        return faults

    def is_complete(self) -> bool:
        """Return whether all files have their new content."""
        return all(
            (self.folder / name).read_bytes() == data
            for name, data in self.new.items()
            if data is not None
        )


def measured_command(
    forks: Forks,
    name: str,
    words: tuple[str, ...],
    old: tuple[str, ...],
    new: tuple[str, ...],
    target: Path,
) -> WritingCommand:
    """Run a command with old and then with new options; return it with its files and run time.

    Parameters
    ----------
    words
        The arguments without the target.
    old, new
        The options of both runs.
    """
    folder = target if target.suffix == "" else target.parent
    folder.mkdir(parents=True)
    check_success(forks.run(*words, target, *old))
    before = _files(folder)
    begin = time.time()
    check_success(forks.run(*words, target, *new))
    after, seconds = _files(folder), seconds_until_written(begin, folder)
    fixed = {name: data if name not in TIMED else None for name, data in after.items()}
    new_words, old_words = ((*words, str(target), *more) for more in (new, old))
    return WritingCommand(name, new_words, target, before, fixed, seconds, old_words)


def seconds_until_written(begin: float, folder: Path) -> float:
    """Return the seconds from a moment until the last write in a folder."""
    return max(path.stat().st_mtime for path in folder.iterdir()) - begin


def _files(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def check_success(ended: Ended) -> Ended:
    """Return `ended` if the command succeeded.

    Raises
    ------
    RuntimeError
        If the command failed.
    """
    if ended.code:
        raise RuntimeError(f"exit {ended.code}: {ended.err}")
    return ended
