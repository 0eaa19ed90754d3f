"""Protocols for placers, provers and list schedulers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeGuard, runtime_checkable

import numpy as np

from streamplace.errors import ObjectiveError, PlacementError
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.total_cost import TotalCost
from streamplace.util.arrays import Floats, Ints

Supported = Literal["throughput", "makespan"]
Stated = Literal[Supported, "total cost"]
_REMEDIES: dict[Stated, str] = {
    "throughput": "add --objective makespan, or objective=sp.Makespan() in Python",
    "makespan": (
        "for makespans use auto, search, exact, heft, peft or another placer of the list in "
        "'streamplace place --help'"
    ),
    "total cost": "use climb, random or a refining policy such as giph, or place for the makespan",
}
"""Objective of a problem -> what to do where a placer does not support it."""


class Placer(Protocol):
    """A placement algorithm: a callable that returns a placement for a problem."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a feasible placement.

        Parameters
        ----------
        rng
            The only source of randomness.
        start
            The initial placement, for placers that refine one; other placers ignore it.

        Raises
        ------
        PlacementError
            If no feasible placement was found.
        InfeasibleError
            If it is proven that no feasible placement exists.
        """
        ...


@runtime_checkable
class Improver(Protocol):
    """A placer that also improves a placement by any worth, such as one less the price of moves."""

    def best_by(
        self,
        problem: Problem,
        start: Placement,
        worth: Callable[[Ints], Floats],
        rng: np.random.Generator,
    ) -> Placement:
        """Return the feasible placement of most worth that is found from one placement.

        Parameters
        ----------
        start
            A feasible placement; the result is worth at least as much.
        worth
            Returns the worth of placements, (K,) for (K, V).
        rng
            The only source of randomness.
        """
        ...


@dataclass(frozen=True)
class Proof:
    """A placement and a proven bound on all others.

    Parameters
    ----------
    bound
        Upper bound on the throughput of any placement, in tuples/s; see `score.throughput`. Under
        the makespan objective, lower bound on the makespan of any placement, in seconds.
    optimal
        Whether no placement is better, up to rounding.
    """

    placement: Placement
    bound: float
    optimal: bool


class Prover(Placer, Protocol):
    """A placer that also proves a bound on the best throughput or makespan."""

    def prove(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Proof:
        """Return the placement that `__call__` returns, with a proven bound."""
        ...


def proves(placer: Placer) -> TypeGuard[Prover]:
    """Return whether a placer is a `Prover`; `isinstance` takes ten times as long."""
    return hasattr(placer, "prove")


@dataclass(frozen=True)
class Listed:
    """A placement by list scheduling, and the end of the schedule that it was made with.

    Parameters
    ----------
    own_schedule_s
        The makespan of the scheduler's own schedule, in seconds. The simulated makespan of the
        placement can differ, since devices start operators in the order of the objective. None if
        the placement had to be repaired, so that the schedule is not its own.
    """

    placement: Placement
    own_schedule_s: float | None


class ListScheduler(Placer, Protocol):
    """A placer under the makespan objective that plans its own schedule."""

    def listed(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Listed:
        """Return the placement that `__call__` returns, with the end of its own schedule."""
        ...


def plans_schedules(placer: Placer) -> TypeGuard[ListScheduler]:
    """Return whether a placer is a `ListScheduler`."""
    return hasattr(placer, "listed")


@runtime_checkable
class MayRefine(Placer, Protocol):
    """A placer that uses an initial placement under some of its options only."""

    @property
    def uses_start(self) -> bool:
        """Whether it does under the present ones."""
        ...


def run_placers(
    placers: Sequence[Placer],
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
) -> list[Placement]:
    """Run each placer and return the placements of those that succeed.

    Raises
    ------
    PlacementError
        If no placer found a placement: the error of the last one that failed.
    """
    placements: list[Placement] = []
    failure: PlacementError | None = None
    for placer in placers:
        try:
            placements.append(placer(problem, rng, start))
        except PlacementError as error:
            failure = error
    if failure is not None and not placements:
        raise failure
    return placements


def refuse_other_objectives(problem: Problem, placer: str, supported: Supported) -> None:
    """Refuse an objective that a placer does not support.

    Parameters
    ----------
    placer
        Name of the placer, for the message.
    supported
        ``throughput``, with all objectives that derive from it, or ``makespan``, without those that
        derive from it.

    Raises
    ------
    ObjectiveError
        If the problem has another objective.
    """
    objective = problem.objective
    stated: Stated = "makespan" if isinstance(objective, Makespan) else "throughput"
    if isinstance(objective, TotalCost):
        stated = "total cost"
    if stated != supported:
        fault = f"placer {placer!r} supports only {supported}, not {stated}"
        raise ObjectiveError(f"{fault}; {_REMEDIES[stated]}")
