"""What a placer is."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamplace.placement import Placement
from streamplace.problem import Problem


class Placer(Protocol):
    """Anything that returns a placement."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a feasible placement.

        Parameters
        ----------
        rng
            The only source of chance.
        start
            A placement to set out from, for placers that refine one; others leave it alone.

        Raises
        ------
        PlacementError
            If no feasible placement was found.
        InfeasibleError
            If it is proven that there is none.
        """
        ...


@runtime_checkable
class Partitioner(Placer, Protocol):
    """A placer that cuts the graph into a number of parts."""

    @property
    def parts(self) -> int | None:
        """Their number; None: as many as devices."""
        ...

    def with_parts(self, parts: int) -> "Partitioner":
        """Return the same placer for that number of parts."""
        ...


def parts_for(problem: Problem, parts: int | None) -> int:
    """Return the number of parts to make: as many as devices unless told, at most one a unit."""
    wanted = len(problem.cluster.devices) if parts is None else parts
    return min(wanted, len(problem.cluster.devices), problem.feasibility.unit_count)


def devices_of_parts(
    problem: Problem, part_of: NDArray[np.int32], load: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the device of each operator: the heaviest part goes to the fastest device, and so on.

    Parameters
    ----------
    part_of
        (V,) part of each operator.
    load
        (V,) what an operator weighs.
    """
    devices = problem.cluster.fastest_first
    weight = np.bincount(part_of, weights=load, minlength=len(devices))
    device_of_part = np.empty(len(devices), dtype=np.int32)
    device_of_part[np.argsort(-weight, kind="stable")] = devices
    return device_of_part[part_of]
