"""Partitioners as placers: parts of the graph, and the devices that they go to."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.base import BasePlacer, run_placers
from streamplace.placers.partition.fuser import fuse
from streamplace.placers.partition.metis import cut
from streamplace.placers.repair import feasible
from streamplace.problem.grouping import Grouping
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow, rate_of_flow
from streamplace.scoring.quality import qualities
from streamplace.util.arrays import Floats, Ints
from streamplace.util.suggest import did_you_mean

FUSER_SLOW_FROM = 5_000  # operators from which the fuser takes minutes
UTILISATION_UNIT = 1000.0  # vertex weight: utilisation of a mean device, times 1000

Weights = Literal["instructions", "utilisation"]


@dataclass(frozen=True)
class Partitioner(BasePlacer):
    """A placer that cuts the graph into parts, each of which goes to a device.

    Parameters
    ----------
    parts
        Number of parts; default: the number of devices.
    """

    parts: int | None = None

    def __post_init__(self) -> None:
        if self.parts is not None and self.parts < 1:
            raise UsageError(f"parts must be at least 1 (got {self.parts})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement of the parts, repaired where constraints require it."""
        part_of = self.part_of(problem, parts_for(problem, self.parts))
        return feasible(problem, devices_of_parts(problem, part_of, flow(problem).work))

    @abstractmethod
    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the part, 0..parts-1, of each operator, (V,)."""

    def with_parts(self, parts: int) -> Self:
        """Return the same placer with another number of parts."""
        return replace(self, parts=parts)


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
class Metis(Partitioner):
    """K-way partitioning by METIS with its default options.

    Parameters
    ----------
    weights
        Weights of operators: ``instructions`` per source tuple, as published; or ``utilisation`` of
        a mean device, times 1000, which gives better placements on the benchmark.
    """

    name: ClassVar[str] = "metis"
    weights: Weights = "instructions"
    recursive: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights not in get_args(Weights):
            message = f"metis: weights must be {' or '.join(get_args(Weights))}"
            raise UsageError(message + did_you_mean(str(self.weights), get_args(Weights)))

    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the part of each operator, (V,), which is that of its unit."""
        arrays = flow(problem)
        units = Grouping(problem.graph, problem.feasibility.unit_of)
        rate = rate_of_flow(problem)
        quotient = units.quotient(arrays.work / rate, arrays.stream_bits / rate)
        if self.weights == "utilisation":
            unit = rate * UTILISATION_UNIT / arrays.capacity.mean()
            quotient = replace(quotient, load=quotient.load * unit)
        part_of_unit = cut(problem, quotient, parts, recursive=self.recursive)
        return units.expand(part_of_unit).astype(np.int32)


@dataclass(frozen=True)
class MetisRecursive(Metis):
    """Partitioning by METIS with recursive bisection."""

    name: ClassVar[str] = "metis-recursive"
    recursive: bool = field(default=True, init=False)


@dataclass(frozen=True)
class Fuser(Partitioner):
    """Fuse operators into PEs as IBM Streams does for a target number of PEs."""

    name: ClassVar[str] = "fuser"

    @property
    def slow_from(self) -> int:
        """The number of operators from which it takes minutes."""
        return FUSER_SLOW_FROM

    def part_of(self, problem: Problem, parts: int) -> Ints:
        """Return the PE of each operator, (V,)."""
        return fuse(problem.graph, problem.constraints, parts)


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
        placements = run_placers(tries, problem, rng, start)
        return placements[int(qualities(problem, placements).argmax())]
