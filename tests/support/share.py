"""The share of a long test's random problems that a run draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Share:
    """A share of the problems; every run draws the same ones.

    Raises
    ------
    ValueError
        If it is not above 0 and at most 1.
    """

    part: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.part <= 1:
            raise ValueError(f"share must be above 0 and at most 1 (got {self.part:g})")

    def of(self, every: Sequence[T]) -> list[T]:
        """Return the problems to draw, in their order.

        They are drawn at random, because some tests let every second or third seed be special.
        """
        count = ceil(self.part * len(every))
        return [every[i] for i in sorted(Random(0).sample(range(len(every)), count))]

    def least(self, count: float) -> float:
        """Return the share of a count that the test expects of all problems."""
        return self.part * count
