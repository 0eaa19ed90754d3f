"""What one graph of a dataset is drawn from."""

from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError

SOURCE_RATE = 10_000.0  # tuples/s
DEVICE_MIPS = 2500.0  # million instructions/s
INSTRUCTIONS_PER_DEVICE = DEVICE_MIPS * 1e6 / SOURCE_RATE  # capacity per source tuple


MAX_SIZE = 10**6  # of an axis of a tensor


def check_range(what: str, value: float, largest: float, smallest: float = 1) -> None:
    """Raise UsageError for an option that is out of range."""
    if not smallest <= value <= largest:
        raise UsageError(f"{what} must be {smallest:g} to {largest:g} (got {value:g})")


@dataclass(frozen=True)
class Draw:
    """One graph of a dataset, before it is drawn.

    Parameters
    ----------
    number, count
        Number of the graph, and number of graphs of the dataset.
    sizes
        Numbers of operators to draw from; None leaves them to the family.
    seed
        Seed of the dataset.
    name
        Name of the graph.
    """

    number: int
    count: int
    sizes: range | None
    seed: int
    name: str

    def rng(self, *part: int) -> np.random.Generator:
        """Return the graph's own random generator, or that of a numbered part of it."""
        seed = np.random.SeedSequence([self.seed, self.number, *part])
        return np.random.Generator(np.random.PCG64(seed))
