"""Refusals of bad files, which must print one line and change no state."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardening.harness.counts import Count
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.mutation.damage import Damaged
from benchmarks.hardening.targets.loadable_file import LoadableFile
from streamplace.errors import CheckpointError

LOADED, TRACEBACK, NOT_ONE_LINE, CHANGED = (
    "loaded",
    "tracebacks",
    "not one line",
    "changed the state",
)
"""Kinds of faults; the last is counted only for readers with a state."""


@dataclass
class Refusals(Count):
    """Counts of bad files that must be refused.

    Parameters
    ----------
    by_label
        The number of tries by label: the name of the valid file, or the command that reads it.
    """

    kinds: tuple[str, ...] = (LOADED, TRACEBACK, NOT_ONE_LINE)
    by_label: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, damage: str, fault: str | None = None, message: str = "") -> None:
        """Count one try, and its fault if there is one.

        Parameters
        ----------
        damage
            A description of the damage to the file.
        fault
            The kind of fault; None if the file was refused correctly.
        message
            The message of the refusal.
        """
        self.tried += 1
        self.by_label[label] += 1
        if fault is not None:
            self.blame(label, damage, fault, message)

    def blame(self, label: str, damage: str, fault: str, message: str = "") -> None:
        """Count the fault of a try."""
        self.wrong[fault] += 1
        self.add_fault(f"{label}, {damage}: {fault} {message}".rstrip())

    def compare(self, label: str, damage: str, before: Hashable, after: Hashable) -> None:
        """Count a change of state; the first comparison adds this kind of fault to the row."""
        if CHANGED not in self.kinds:
            self.kinds = (*self.kinds, CHANGED)
        if before != after:
            self.blame(label, damage, CHANGED)

    def row(self) -> Row:
        """Return the row of the table."""
        self.figures = {label: f"{count:,}" for label, count in self.by_label.items()}
        return super().row()


def count_refusals(
    refusals: Refusals, valid: LoadableFile, files: Iterable[Damaged], folder: Path
) -> None:
    """Let the reader of a valid file read bad files, and count the outcomes.

    Parameters
    ----------
    files
        Bad files, such as the valid one after damage.
    folder
        A folder for the file that is read.
    """
    path = folder / "other.safetensors"
    path.write_bytes(valid.data)
    valid.load(path)  # a refusal means nothing unless the valid file is accepted
    before = valid.state() if valid.state else None
    for one in files:
        path.write_bytes(one.data)
        try:
            valid.load(path)
        except CheckpointError as error:
            message = str(error)
            fault = None if message.isprintable() else NOT_ONE_LINE
            refusals.add(valid.name, one.damage, fault, repr(message))
        except Exception as error:  # any other exception is a fault
            refusals.add(valid.name, one.damage, TRACEBACK, f"{type(error).__name__}: {error}")
        else:
            refusals.add(valid.name, one.damage, LOADED)
        if valid.state:
            after = valid.state()
            refusals.compare(valid.name, one.damage, before, after)
            before = after
    path.unlink()
