"""Placers that run a partitioner with many settings and keep the best placement."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import BasePlacer
from streamplace.placers.partition.metis import Metis, MetisRecursive, Weights
from streamplace.placers.partition.partitioner import Partitioner, devices_of_parts, parts_for
from streamplace.placers.repair import feasible_ones
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities
from streamplace.util.arrays import Ints

# Where links bind, a light cut is worth more than equal parts, by how much depends on the graph.
IMBALANCES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the sweep; METIS's defaults are .03 and .001
# Numbers of parts up to here are all tried; larger ones grow by half, or the sweep takes too long.
ALL_PARTS = 8


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
        most = parts_for(problem, None)
        tries = [(self.partitioner, parts) for parts in range(min(2, most), most + 1)]
        return _best_of(tries, problem)


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
        settings = [
            variant(weights=self.weights, imbalance=imbalance)
            for variant in (Metis, MetisRecursive)
            for imbalance in IMBALANCES
        ]
        numbers = _ladder(parts_for(problem, None))
        tries = [(each, parts) for parts in numbers for each in settings]
        return _best_of(tries, problem)


def _ladder(most: int) -> list[int]:
    """Return 2, 3, … up to `ALL_PARTS`, then numbers that grow by half, and `most` itself."""
    numbers = list(range(min(2, most), min(most, ALL_PARTS) + 1))
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] * 3 // 2))
    return numbers


def _best_of(tries: Iterable[tuple[Partitioner, int]], problem: Problem) -> Placement:
    """Return the best placement by partitioners and numbers of parts, the first one on a tie.

    Parts that several of them find are placed, repaired and scored once.
    """
    found, failure = dict[bytes, Ints](), PlacementError("there are no settings")
    for partitioner, parts in tries:
        try:
            part_of = partitioner.part_of(problem, parts)
        except PlacementError as error:
            failure = error
        else:
            found.setdefault(part_of.tobytes(), part_of)
    if not found:
        raise failure
    load = flow(problem).work
    drafts = [devices_of_parts(problem, part_of, load) for part_of in found.values()]
    placements = feasible_ones(problem, drafts)
    return placements[int(qualities(problem, placements).argmax())]
