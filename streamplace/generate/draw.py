"""What one graph of a dataset is drawn from."""

from dataclasses import dataclass

import numpy as np


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
