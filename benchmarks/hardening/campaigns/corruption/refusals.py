"""Refusals of bad files, which must print one line and change no state."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardening.harness.counts import Count
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.mutation.damage import Damaged
from benchmarks.hardening.targets.subject import Subject
from streamplace.errors import CheckpointError

LOADED, TRACEBACK, LINES, CHANGED = "loaded", "tracebacks", "not one line", "changed the state"


@dataclass
class Refusals(Count):
    """Counts of files that must be refused; `by_label` counts the tried ones."""

    kinds: tuple[str, ...] = (LOADED, TRACEBACK, LINES)
    by_label: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, how: str, wrong: str | None = None, message: str = "") -> None:
        """Count one file, and its fault if there is one."""
        self.tried += 1
        self.by_label[label] += 1
        if wrong is not None:
            self.blame(label, how, wrong, message)

    def blame(self, label: str, how: str, wrong: str, message: str = "") -> None:
        """Count the fault of a file."""
        self.wrong[wrong] += 1
        self.add_fault(f"{label}, {how}: {wrong} {message}".rstrip())

    def compare(self, label: str, how: str, before: Hashable, after: Hashable) -> None:
        """Count a change of state; the first comparison adds this kind of fault to the row."""
        if CHANGED not in self.kinds:
            self.kinds = (*self.kinds, CHANGED)
        if before != after:
            self.blame(label, how, CHANGED)

    def row(self) -> Row:
        """Return the row of the table."""
        self.figures = {label: f"{count:,}" for label, count in self.by_label.items()}
        return super().row()


def count_refusals(
    refusals: Refusals, subject: Subject, files: Iterable[Damaged], folder: Path
) -> None:
    """Let the reader of a subject read bad files, and count the outcomes."""
    path = folder / "other.safetensors"
    path.write_bytes(subject.data)
    subject.load(path)  # a refusal means nothing unless the valid file is accepted
    before = subject.state() if subject.state else None
    for one in files:
        path.write_bytes(one.data)
        try:
            subject.load(path)
        except CheckpointError as error:
            message = str(error)
            fault = None if message.isprintable() else LINES
            refusals.add(subject.name, one.how, fault, repr(message))
        except Exception as error:  # any other exception is a fault
            refusals.add(subject.name, one.how, TRACEBACK, f"{type(error).__name__}: {error}")
        else:
            refusals.add(subject.name, one.how, LOADED)
        if subject.state:
            after = subject.state()
            refusals.compare(subject.name, one.how, before, after)
            before = after
    path.unlink()
