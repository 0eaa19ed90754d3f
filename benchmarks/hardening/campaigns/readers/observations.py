"""The results of reading the bad files of one reader."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Observations:
    """The counts and measurements of one reader.

    Parameters
    ----------
    tried, read
        The number of files read, and of those that were read as valid.
    repeats
        The number of files equal to earlier ones, which are neither read nor counted as tried.
    cut, smallest
        The number of offsets at which the smallest valid file was truncated, and its size in bytes.
    wrong, faults
        The number of faults by kind, and descriptions of all faults.
    longest_s, cpu_s
        The CPU time of the longest read, and of all together.
    """

    tried: int = 0
    cut: int = 0
    smallest: int = 0
    read: int = 0
    repeats: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest_s: float = 0.0
    peak_bytes: int = 0
    cpu_s: float = 0.0

    def blame(self, kind: str, file: str, detail: object) -> None:
        """Count a fault of a kind, and note which file caused it."""
        self.wrong[kind] += 1
        self.faults.append(f"{file}: {kind}: {' '.join(str(detail).split())[:200]}")

    def to_dict(self) -> dict[str, Any]:
        """Return the observations as a JSON value."""
        return {**vars(self), "wrong": dict(self.wrong)}
