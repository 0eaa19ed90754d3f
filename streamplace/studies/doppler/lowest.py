"""The shortest of several placements, with its makespan with and without a barrier."""

from dataclasses import dataclass, replace
from math import inf, isfinite

from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Ints


@dataclass
class Lowest:
    """The placement of shortest makespan so far.

    Parameters
    ----------
    problem
        The problem of all placements.
    devices
        (V,) the placement; None before the first one.
    seconds
        Its makespan.
    """

    problem: Problem
    devices: Ints | None = None
    seconds: float = inf

    def add(self, devices: Ints) -> float:
        """Keep a placement, (V,), if it is shorter, and return its makespan in seconds."""
        seconds = float(makespan_evaluator(self.problem).makespans(devices)[0])
        if seconds < self.seconds:
            self.devices, self.seconds = devices, seconds
        return seconds

    @property
    def known_s(self) -> float | None:
        """The makespan as a JSON value, None before the first placement."""
        return self.seconds if isfinite(self.seconds) else None

    @property
    def barrier_s(self) -> float | None:
        """The makespan of the same placement if the operators of a level wait for the level before.

        As in the paper, levels follow each other.
        """
        if self.devices is None:
            return None
        objective = replace(self.problem.makespan_objective, barrier=True)
        waiting = self.problem.with_objective(objective)
        return float(makespan_evaluator(waiting).makespans(self.devices)[0])
