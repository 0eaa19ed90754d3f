"""Protocols of placers and provers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from streamplace.errors import PlacementError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


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
