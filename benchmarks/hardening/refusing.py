"""Files in place of good ones: every one is to be refused in one line, and nothing is to change."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardening.counting import Count
from benchmarks.hardening.damage import Damaged
from benchmarks.hardening.rows import Row
from streamplace.errors import CheckpointError

LOADED, TRACEBACK, LINES, CHANGED = "loaded", "tracebacks", "not one line", "left a change"
State = Callable[[], Hashable]


@dataclass(frozen=True)
class Subject:
    """A good file, and who reads it.

    Parameters
    ----------
    load
        Reads a file; returns if it takes it.
    state
        Tells what a file is loaded into; it is to be as before where one is refused. None: it is
        loaded into nothing that was there before.
    """

    name: str
    data: bytes
    load: Callable[[Path], object]
    state: State | None = None


@dataclass
class Refusals(Count):
    """What becomes of files that are to be refused."""

    kinds: tuple[str, ...] = (LOADED, TRACEBACK, LINES)
    by: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, how: str, wrong: str | None = None, said: str = "") -> None:
        """Count one file, and what went wrong with it, if anything did."""
        self.tried += 1
        self.by[label] += 1
        if wrong is not None:
            self.blame(label, how, wrong, said)

    def blame(self, label: str, how: str, wrong: str, said: str = "") -> None:
        """Count what went wrong with a file."""
        self.wrong[wrong] += 1
        self.tell(f"{label}, {how}: {wrong} {said}".rstrip())

    def look(self, label: str, how: str, before: Hashable, after: Hashable) -> None:
        """Count a change where none was to be; once looked for, they have a column."""
        if CHANGED not in self.kinds:
            self.kinds = (*self.kinds, CHANGED)
        if before != after:
            self.blame(label, how, CHANGED)

    def row(self) -> Row:
        """Return the line of the table."""
        self.figures = {label: f"{count:,}" for label, count in self.by.items()}
        return super().row()


def refuse(refusals: Refusals, subject: Subject, files: Iterable[Damaged], folder: Path) -> None:
    """Give a subject's reader other files than its own, and count what it does."""
    path = folder / "other.safetensors"
    path.write_bytes(subject.data)
    subject.load(path)  # else refusing others would mean nothing
    before = subject.state() if subject.state else None
    for one in files:
        path.write_bytes(one.data)
        try:
            subject.load(path)
        except CheckpointError as error:
            said = str(error)
            refusals.add(subject.name, one.how, None if said.isprintable() else LINES, repr(said))
        except Exception as error:  # what else it may raise is the question
            refusals.add(subject.name, one.how, TRACEBACK, f"{type(error).__name__}: {error}")
        else:
            refusals.add(subject.name, one.how, LOADED)
        if subject.state:
            after = subject.state()
            refusals.look(subject.name, one.how, before, after)
            before = after
    path.unlink()
