"""What was seen while the bad files of a reader were read."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """What was seen of one reader.

    Parameters
    ----------
    repeats
        Files that were read before, and so neither read nor counted again.
    cut, smallest
        At how many offsets the smallest good file was cut off, and how many it has.
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

    def blame(self, what: str, which: str, said: object) -> None:
        """Count a fault, and say how it can be made again."""
        self.wrong[what] += 1
        self.faults.append(f"{which}: {what}: {' '.join(str(said).split())[:200]}")

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**vars(self), "wrong": dict(self.wrong)}
