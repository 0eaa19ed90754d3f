"""Placers that run a partitioner with many settings and keep the best placement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.placers.base import BasePlacer, run_placers
from streamplace.placers.partition.metis import Metis, MetisRecursive, Weights
from streamplace.placers.partition.partitioner import Partitioner, parts_for
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import qualities

IMBALANCES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the sweep; METIS's defaults are .03 and .001
ALL_PARTS = 8  # numbers of parts up to here are all tried by the sweep, larger ones by a factor


@dataclass(frozen=True)
class Oracle(BasePlacer):
    """Run a partitioner for 2 … D parts (D devices) and keep the best; ties go to fewer parts."""

    name: ClassVar[str] = "oracle"
    partitioner: Partitioner

    @property
    def slow_from(self) -> int | None:
        """The number of operators from which the partitioner takes minutes."""
        return self.partitioner.slow_from

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise the partitioner's last error if it found none."""
        max_parts = parts_for(problem, None)
        numbers = range(min(2, max_parts), max_parts + 1)
        tries = [self.partitioner.with_parts(parts) for parts in numbers]
        return _best_of(tries, problem, rng, start)


@dataclass(frozen=True)
class MetisSweep(BasePlacer):
    """Run METIS with many settings and keep the best; ties go to fewer parts.

    The settings are every imbalance of `IMBALANCES`, k-way partitioning and recursive bisection,
    and 2 … D parts (D devices). Where there are many devices, numbers of parts grow by a factor, so
    that their number grows with the logarithm of D only.

    Parameters
    ----------
    weights
        Weights of operators, see `Metis`.
    """

    name: ClassVar[str] = "metis-sweep"
    weights: Weights = "instructions"

    def __post_init__(self) -> None:
        Metis(weights=self.weights)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise METIS's last error if it found none."""
        tries = [
            variant(parts, self.weights, imbalance)
            for parts in _ladder(parts_for(problem, None))
            for variant in (Metis, MetisRecursive)
            for imbalance in IMBALANCES
        ]
        return _best_of(tries, problem, rng, start)


def _ladder(most: int) -> list[int]:
    """Return 2, 3, … up to `ALL_PARTS`, then numbers that grow by half, and `most` itself."""
    numbers = list(range(min(2, most), min(most, ALL_PARTS) + 1))
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] * 3 // 2))
    return numbers


def _best_of(
    tries: Sequence[Partitioner],
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
) -> Placement:
    """Return the best of the placements by some partitioners, the first one on a tie."""
    placements = run_placers(tries, problem, rng, start)
    return placements[int(qualities(problem, placements).argmax())]
