"""What a placer is."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from streamplace.arrays import Floats, Ints
from streamplace.errors import PlacementError, SimulationError, UsageError
from streamplace.placement import Placement
from streamplace.problem import Problem
from streamplace.score import throughput


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


@dataclass(frozen=True)
class PartsOption:
    """The option that partitioners share.

    Parameters
    ----------
    parts
        Their number; as many as devices unless told.
    """

    parts: int | None = None

    def __post_init__(self) -> None:
        if self.parts is not None and self.parts < 1:
            raise UsageError(f"parts must be at least 1 (got {self.parts})")

    def with_parts(self, parts: int) -> Self:
        """Return the same placer for another number of parts."""
        return replace(self, parts=parts)


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


@dataclass(frozen=True)
class Proof:
    """A placement, and what is certain about all others.

    Parameters
    ----------
    bound
        Tuples/s that no placement exceeds: see `score.throughput`.
    optimal
        Whether the placement is as good as any, to rounding.
    """

    placement: Placement
    bound: float
    optimal: bool


@runtime_checkable
class Prover(Placer, Protocol):
    """A placer that proves how good its placement is."""

    def prove(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Proof:
        """Return what `__call__` does, with a bound of its own."""
        ...


def answers(
    placers: Sequence[Placer],
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
) -> list[Placement]:
    """Ask each placer and return the placements of those that found one.

    Raises
    ------
    PlacementError
        What the last one raised, if none found any.
    """
    found: list[Placement] = []
    failure: PlacementError | None = None
    for placer in placers:
        try:
            found.append(placer(problem, rng, start))
        except PlacementError as error:
            failure = error
    if failure is not None and not found:
        raise failure
    return found


def throughputs(problem: Problem, found: Sequence[Placement]) -> Floats:
    """Return the throughput of each placement; one that cannot be simulated counts as none, -1.

    Raises
    ------
    SimulationError
        If none can be simulated.
    """
    rows = np.stack([placement.devices for placement in found])
    reached = throughputs_of_rows(problem, rows)
    if reached.max() < 0:
        return throughput(problem, rows)  # which tells why
    return reached


def throughputs_of_rows(problem: Problem, rows: Ints) -> Floats:
    """Return the throughput of placements, (K, V); -1 where one cannot be simulated."""
    try:
        return throughput(problem, rows)
    except SimulationError:
        reached = np.full(len(rows), -1.0)
        for i, row in enumerate(rows):
            with suppress(SimulationError):
                reached[i] = throughput(problem, row)[0]
        return reached


def parts_for(problem: Problem, parts: int | None) -> int:
    """Return the number of parts to make: as many as devices unless told, at most one a unit."""
    wanted = len(problem.cluster.devices) if parts is None else parts
    return min(wanted, len(problem.cluster.devices), problem.feasibility.unit_count)


def devices_of_parts(problem: Problem, part_of: Ints, load: Floats) -> Ints:
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
