"""What a method may use for one workload."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What a method may use for one workload.

    Parameters
    ----------
    passes
        Largest number of measured passes.
    repeats
        Passes of a placement, of whose makespans the median counts.
    epochs
        Epochs of each of the first two stages.
    """

    passes: int
    repeats: int
    epochs: int

    @property
    def placements(self) -> int:
        """The number of placements that may be measured."""
        return self.passes // self.repeats
