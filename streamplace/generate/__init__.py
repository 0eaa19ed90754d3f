"""Benchmark graphs from a seed: the same bytes on any machine, by any number of processes.

Only uniform numbers and the four arithmetic operations make a graph, and each graph has a random
generator of its own, seeded by (seed, number of the graph).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError
from streamplace.generate.dream import branched, classes_for
from streamplace.generate.layered import layered
from streamplace.generate.series_parallel import series_parallel
from streamplace.problem.graph import StreamGraph
from streamplace.util.suggest import valid_choices

PRESETS = ("dream", "series-parallel", "layered")
DEFAULT_SIZES = range(10, 51)
LEAST_OPERATORS = 4
MOST_OPERATORS = 10**6
MOST_GRAPHS = 10**7

_SHAPES: dict[str, Callable[[int, np.random.Generator, str], StreamGraph]] = {
    "series-parallel": series_parallel,
    "layered": layered,
}


@dataclass(frozen=True)
class Recipe:
    """What makes a dataset.

    Parameters
    ----------
    preset
        ``dream``, ``series-parallel`` or ``layered``.
    count
        Number of graphs.
    sizes
        Numbers of operators to draw from. ``dream`` keeps the classes within them; None is all of
        its classes, or 10 to 50 operators for the others.
    seed
        At least 0.

    Raises
    ------
    UsageError
        On values that make no graphs.
    """

    preset: str
    count: int
    sizes: range | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise UsageError(
                f"no preset is called {self.preset!r}{valid_choices(self.preset, PRESETS)}"
            )
        if not 1 <= self.count <= MOST_GRAPHS:
            raise UsageError(f"count must be 1 to {MOST_GRAPHS} (got {self.count})")
        if self.seed < 0:
            raise UsageError(f"seed must be at least 0 (got {self.seed})")
        if self.preset == "dream":
            if not classes_for(self.count, self.sizes):
                raise UsageError("no class of dream has that many operators; they have 4 to 27")
        elif self.sizes is not None and not (
            LEAST_OPERATORS <= self.sizes.start < self.sizes.stop <= MOST_OPERATORS + 1
        ):
            raise UsageError(f"operators must be {LEAST_OPERATORS} to {MOST_OPERATORS}")

    def graph(self, number: int) -> StreamGraph:
        """Return one graph of the dataset, 0 <= number < count, or raise IndexError."""
        if not 0 <= number < self.count:
            raise IndexError(f"graph {number} of {self.count}")
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, number])))
        name = f"{self.preset}_{number}"
        if self.preset == "dream":
            return branched(*classes_for(self.count, self.sizes)[number], rng, name)
        sizes = self.sizes or DEFAULT_SIZES
        return _SHAPES[self.preset](sizes[int(rng.random() * len(sizes))], rng, name)


__all__ = ["PRESETS", "Recipe"]
