"""The placer `climb`: random moves of one unit at a time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.placers.base import BasePlacer
from streamplace.placers.budget import Budget, check_limits
from streamplace.placers.repair import feasible
from streamplace.placers.starting import first_row, placement_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import qualities_of_rows
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints

PER_UNIT = 100  # evaluations by default; a guess, not tuned


@dataclass(frozen=True)
class Climb(BasePlacer):
    """First-improvement climb: try random moves of one unit, keep those that are not worse.

    It starts from the initial placement, or else from all operators on the first device that may
    run them, repaired where constraints require it.

    Parameters
    ----------
    evaluations
        Number of placements to evaluate; without any limit, 100 per unit.
    seconds
        Wall time in seconds, to limit the climb by time. Results then depend on the machine.
    start
        The placer of the initial placement, where there is none.
    """

    name: ClassVar[str] = "climb"
    takes_start: ClassVar[bool] = True
    evaluations: int | None = None
    seconds: float | None = None
    start: str = ""

    def __post_init__(self) -> None:
        check_limits(self.name, self.seconds, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found."""
        evaluations = self.evaluations
        if evaluations is None and self.seconds is None:
            evaluations = PER_UNIT * problem.feasibility.unit_count
        budget = Budget(self.seconds, evaluations)
        first = self.begun(problem, rng) if start is None else feasible(problem, start.devices)
        row = first.devices
        climb = problem.objective.function("climb") or climb_by_moves
        return Placement(problem, climb(problem, rng, row, budget))

    @property
    def begins_from(self) -> str:
        """What it improves without an initial placement, in words."""
        return self.start or "one device"

    def begun(self, problem: Problem, rng: np.random.Generator) -> Placement:
        """Return the placement that it improves without an initial one."""
        if self.start:
            return placement_of(self.start, problem, rng)
        return Placement(problem, first_row(problem))


def climb_by_moves(
    problem: Problem, rng: np.random.Generator, devices: Ints, budget: Budget
) -> Ints:
    """Return a feasible placement, (V,), after random moves that do not lower its quality."""
    feasibility = problem.feasibility
    units, targets = np.nonzero(feasibility.allowed)
    devices = devices.astype(np.int32)
    reached = float(qualities_of_rows(problem, devices[None])[0])
    while budget.left() > 0:
        begun = work_clock.now()
        i = int(rng.integers(len(units)))
        moved = np.where(feasibility.unit_of == units[i], targets[i].astype(np.int32), devices)
        if (moved != devices).any() and feasibility.violation(moved) is None:
            quality = float(qualities_of_rows(problem, moved[None])[0])
            # Equal placements are accepted too, because scores have wide plateaus.
            if quality >= reached:
                devices, reached = moved, quality
        budget.charge(1, work_clock.now() - begun)
    return devices
