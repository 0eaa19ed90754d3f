"""Benchmark graphs from a seed: the same bytes on any machine, by any number of processes.

Only uniform numbers and the four arithmetic operations make a graph of ours, and each graph has a
random generator of its own, seeded by (seed, number of the graph).
"""

from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError
from streamplace.generate.family import Family
from streamplace.generate.registry import FAMILIES, graph_source, name_of
from streamplace.problem.graph import StreamGraph

PRESETS = tuple(FAMILIES)
MOST_GRAPHS = 10**7


@dataclass(frozen=True)
class Recipe:
    """What makes a dataset.

    Parameters
    ----------
    preset
        ``dream``, ``series-parallel`` or ``layered``; a family of one's own by name,
        ``module:function``, or itself: see `Family`.
    count
        Number of graphs.
    sizes
        Numbers of operators to draw from. ``dream`` keeps the classes within them; None is all of
        its classes, and of other families `Family.sizes`, or 10 to 50 operators.
    seed
        At least 0.

    Raises
    ------
    UsageError
        On values that make no graphs.
    """

    preset: str | Family
    count: int
    sizes: range | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        source = graph_source(self.preset)
        if not 1 <= self.count <= MOST_GRAPHS:
            raise UsageError(f"count must be 1 to {MOST_GRAPHS} (got {self.count})")
        if self.seed < 0:
            raise UsageError(f"seed must be at least 0 (got {self.seed})")
        source.check(self.count, self.sizes)

    def graph(self, number: int) -> StreamGraph:
        """Return one graph of the dataset, 0 <= number < count, or raise IndexError.

        Raises
        ------
        UsageError
            If a family of one's own fails, or makes something else.
        """
        if not 0 <= number < self.count:
            raise IndexError(f"graph {number} of {self.count}")
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, number])))
        name = f"{name_of(self.preset)}_{number}"
        return graph_source(self.preset).graph(number, self.count, self.sizes, rng, name)


__all__ = ["PRESETS", "Family", "Recipe"]
