"""Code shared by partitioners: the number of parts and the assignment of parts to devices."""

from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.base import Placer, run_placers
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.util.arrays import Floats, Ints


@dataclass(frozen=True)
class PartsOption:
    """The option `parts`, which all partitioners have.

    Parameters
    ----------
    parts
        Number of parts; default: the number of devices.
    """

    parts: int | None = None

    def __post_init__(self) -> None:
        if self.parts is not None and self.parts < 1:
            raise UsageError(f"parts must be at least 1 (got {self.parts})")

    def with_parts(self, parts: int) -> Self:
        """Return the same placer with another number of parts."""
        return replace(self, parts=parts)


@runtime_checkable
class Partitioner(Placer, Protocol):
    """A placer that cuts the graph into a number of parts."""

    @property
    def parts(self) -> int | None:
        """Number of parts; None: the number of devices."""
        ...

    def with_parts(self, parts: int) -> "Partitioner":
        """Return the same placer with another number of parts."""
        ...


def parts_for(problem: Problem, parts: int | None) -> int:
    """Return the number of parts to make: at most one per device and one per unit."""
    requested = len(problem.cluster.devices) if parts is None else parts
    return min(requested, len(problem.cluster.devices), problem.feasibility.unit_count)


def devices_of_parts(problem: Problem, part_of: Ints, load: Floats) -> Ints:
    """Return the device of each operator, (V,): heavier parts go to faster devices.

    Parameters
    ----------
    part_of
        (V,) part of each operator.
    load
        (V,) weight of each operator, in any unit.
    """
    devices = problem.cluster.fastest_first
    weight = np.bincount(part_of, weights=load, minlength=len(devices))
    device_of_part = np.empty(len(devices), dtype=np.int32)
    device_of_part[np.argsort(-weight, kind="stable")] = devices
    return device_of_part[part_of]


@dataclass(frozen=True)
class Oracle:
    """Run a partitioner for 2 … D parts (D devices) and keep the best; ties go to fewer parts."""

    partitioner: Partitioner

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise the partitioner's last error if it found none."""
        max_parts = parts_for(problem, None)
        numbers = range(min(2, max_parts), max_parts + 1)
        tries = [self.partitioner.with_parts(parts) for parts in numbers]
        placements = run_placers(tries, problem, rng, start)
        return placements[int(qualities(problem, placements).argmax())]
