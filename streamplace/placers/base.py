"""The protocol of placers, and the base classes of those that have a name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from streamplace.errors import Fault, ObjectiveError, UsageError
from streamplace.placers.limits import MaxEvaluations, PlacerLimit
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import parameters_of

BOTH = frozenset(("throughput", "makespan"))
THROUGHPUT = frozenset(("throughput",))
MAKESPAN = frozenset(("makespan",))
TOTAL_COST = frozenset(("total cost",))


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


@dataclass(frozen=True)
class Found:
    """What a placer found on a problem.

    Parameters
    ----------
    bound
        Proven upper bound on the throughput of any placement, in tuples/s; see `ThroughputScore`.
        Under the makespan objective, lower bound on the makespan of any placement, in seconds. None
        if the placer proved none.
    optimal
        Whether a placer that `proves` has proven that no placement is better, up to rounding; None
        from other placers.
    own_order
        (V,) operators in the order in which a list scheduler's own schedule starts them; an
        operator follows its inputs. None if the placement had to be repaired, so that it is not
        that of the schedule.
    fewer_devices
        The fewest devices on which a placement that was tried carries everything, if proven and
        fewer than those of `placement`, which are more for the sake of balance; otherwise None.
    """

    placement: Placement
    bound: float | None = None
    optimal: bool | None = None
    own_order: Ints | None = None
    fewer_devices: int | None = None

    @property
    def status(self) -> str | None:
        """``OPTIMAL`` or ``FEASIBLE`` from a placer that `proves`; None from others."""
        return None if self.optimal is None else "OPTIMAL" if self.optimal else "FEASIBLE"


class BasePlacer(ABC):
    """Base of the placers that have a name; what they can do is known before they run.

    Options are the parameters of the constructor of the class that derives from it. A user's own
    placer may be any callable, see `Placer`.

    Attributes
    ----------
    name
        The name in the registry; a user's own placer needs none.
    objectives
        The quantities of objectives for which it places (`Objective.quantity`); None: all.
    takes_start
        Whether it uses an initial placement under all options; see `uses_start`.
    trains
        Whether it trains a network on the problem.
    proves
        Whether it always returns a proven bound, and whether its placement is optimal.
    faster
        What to do where it takes minutes, see `slow_from`.
    """

    name: ClassVar[str]
    objectives: ClassVar[frozenset[str] | None] = None
    takes_start: ClassVar[bool] = False
    trains: ClassVar[bool] = False
    proves: ClassVar[bool] = False
    faster: ClassVar[str] = "multilevel and auto place large graphs faster"

    @abstractmethod
    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a feasible placement; see `Placer`."""

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the placement of a call, with what else the placer knows of it.

        The caller checks that the placer `supports` the problem.
        """
        return Found(self(problem, rng, start))

    @classmethod
    def options(cls) -> dict[str, Any]:
        """Return the type of each option."""
        return parameters_of(cls)

    @property
    def uses_start(self) -> bool:
        """Whether it uses an initial placement under its present options."""
        return self.takes_start

    @property
    def begins_from(self) -> str | None:
        """What it improves without an initial placement, in words; None: it builds placements."""
        return None

    def begun(self, problem: Problem, rng: np.random.Generator) -> Placement | None:
        """Return what a call with such a generator improves, or one like it; None: nothing."""
        return None

    @property
    def slow_from(self) -> int | None:
        """The number of operators from which it takes minutes, as its time grows with the square.

        None: its time grows more slowly.
        """
        return None

    def stand_in(self, objective: Objective) -> "BasePlacer | None":
        """Return the placer that it runs in its place under an objective; None: none."""
        return None

    def options_for(self, limit: PlacerLimit) -> dict[str, Any] | None:
        """Return the options that set a limit; None if the placer does not accept it."""
        if self.trains and isinstance(limit, MaxEvaluations):  # its samples are those of a step
            return None
        return limit.options_among(self.options())

    def limited_by(self, limit: PlacerLimit) -> tuple[str, ...]:
        """Return the names of all options that set the same kind of limit."""
        return limit.parameters

    def supports(self, problem: Problem) -> bool:
        """Return whether it places under the objective of a problem."""
        return self.places_for(problem.objective.quantity)

    @classmethod
    def places_for(cls, quantity: str) -> bool:
        """Return whether it places under objectives of a quantity; see `Objective.quantity`."""
        return cls.objectives is None or quantity in cls.objectives

    def check_supports(self, problem: Problem) -> None:
        """Refuse a problem whose objective it does not support.

        Raises
        ------
        ObjectiveError
            If the problem has such an objective.
        """
        if self.objectives is not None and not self.supports(problem):
            name = getattr(self, "name", type(self).__name__)
            refuse_other_objectives(problem, name, self.objectives)


class Improver(BasePlacer):
    """A placer that also improves a placement by any worth, such as one less the price of moves."""

    @abstractmethod
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


class ReportingPlacer(BasePlacer):
    """A placer that returns more than a placement: a proven bound, or its own order."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement found; see `run`."""
        return self.run(problem, rng, start).placement

    @abstractmethod
    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return what it found; see `BasePlacer.run`."""


def supported_in_words(quantities: frozenset[str] | None) -> str:
    """Return quantities of objectives in words, such as ``makespan``."""
    if quantities is None:
        return "all objectives"
    *others, last = sorted(quantities)
    return f"{', '.join(others)} and {last}" if others else last


def refuse_other_objectives(problem: Problem, placer: str, supported: frozenset[str]) -> None:
    """Refuse an objective that a placer does not support.

    Parameters
    ----------
    placer
        Name of the placer, for the message.
    supported
        Quantities: ``throughput``, with all objectives that derive from it; ``makespan``, without
        those that derive from it.

    Raises
    ------
    ObjectiveError
        If the problem has another objective.
    """
    objective = problem.objective
    if objective.quantity not in supported:
        fault = f"supports only {supported_in_words(supported)}, not {objective.quantity}"
        raise ObjectiveError(Fault(f"placer {placer!r} {fault}", remedy=objective.remedy))


def check_counts(placer: BasePlacer, limits: Sequence[tuple[str, int]], least: int) -> None:
    """Raise a UsageError if an option of a placer is below `least` or above its limit."""
    for option, most in limits:
        value = getattr(placer, option)
        if not least <= value <= most:
            fault = f"{option} must be {least} to {most} (got {value})"
            raise UsageError(Fault(fault, place=(placer.name,)))
