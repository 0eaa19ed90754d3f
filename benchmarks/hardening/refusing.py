"""Files in place of good ones: every one is to be refused in one line, and nothing is to change."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.damage import Damaged
from benchmarks.hardening.rows import MOST_FAULTS, Row
from streamplace.errors import CheckpointError

LOADED, TRACEBACK, LINES, CHANGED = "loaded", "tracebacks", "not one line", "left a change"


@dataclass(frozen=True)
class Subject:
    """A good file, and who reads it.

    Parameters
    ----------
    load
        Reads a file; returns if it takes it.
    state
        Tells what a file is loaded into; it is to be as before where one is refused.
    """

    name: str
    data: bytes
    load: Callable[[Path], object]
    state: Callable[[], object] = lambda: None


class Tally:
    """Counts what becomes of files that are to be refused."""

    def __init__(self) -> None:
        self.tried = 0
        self.wrong = Counter(dict.fromkeys((LOADED, TRACEBACK, LINES, CHANGED), 0))
        self.by: Counter[str] = Counter()
        self.faults: list[str] = []

    def add(self, label: str, how: str, wrong: str | None = None, said: str = "") -> None:
        """Count one file, and what went wrong with it, if anything did."""
        self.tried += 1
        self.by[label] += 1
        if wrong is not None:
            self.wrong[wrong] += 1
            if len(self.faults) < MOST_FAULTS:
                self.faults.append(f"{label}, {how}: {wrong} {said}".rstrip())

    def row(self, what: str) -> Row:
        """Return the row of the table."""
        figures = {label: f"{count:,}" for label, count in self.by.items()}
        return Row(what, self.tried, dict(self.wrong), figures, self.faults)


def refuse(tally: Tally, subject: Subject, files: Iterable[Damaged], folder: Path) -> None:
    """Give a subject's reader other files than its own, and count what it does."""
    path = folder / "other.safetensors"
    path.write_bytes(subject.data)
    subject.load(path)  # else refusing others would mean nothing
    before = subject.state()
    for one in files:
        path.write_bytes(one.data)
        try:
            subject.load(path)
        except CheckpointError as error:
            said = str(error)
            tally.add(subject.name, one.how, None if said.isprintable() else LINES, repr(said))
        except Exception as error:  # what else it may raise is the question
            tally.add(subject.name, one.how, TRACEBACK, f"{type(error).__name__}: {error}")
        else:
            tally.add(subject.name, one.how, LOADED)
    path.unlink()
    if subject.state() != before:
        tally.wrong[CHANGED] += 1
        tally.faults.append(f"{subject.name}: what it is loaded into is not as before")
