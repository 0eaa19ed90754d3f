"""The base class of partitioners, and the devices that their parts go to."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.base import BasePlacer
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats, Ints


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
