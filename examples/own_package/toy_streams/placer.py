"""A placer that moves one operator after another to its best device."""

from dataclasses import dataclass

import numpy as np

from streamplace import Placement, Problem
from streamplace.errors import UsageError
from streamplace.placers.repair import feasible
from streamplace.scoring.registry import evaluator


@dataclass
class BestDevice:
    """Move randomly chosen operators to the devices on which the loss is lowest.

    Parameters
    ----------
    evaluations
        Number of placements to evaluate; `compare --evaluations` sets it.
    """

    evaluations: int = 100

    def __post_init__(self) -> None:
        if self.evaluations < 1:
            raise UsageError(f"evaluations must be at least 1 (got {self.evaluations})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found from `start`, or from operators on devices in turn."""
        loss, feasibility = evaluator(problem).loss, problem.feasibility
        in_turn = np.arange(len(problem.graph.names), dtype=np.int32) % len(problem.cluster.devices)
        draft = in_turn if start is None else start.devices
        row = feasible(problem, draft).devices
        lowest, left = loss(row[None])[0], self.evaluations - 1
        while left > 0:
            unit = rng.integers(feasibility.unit_count)  # operators that constraints keep together
            devices = np.flatnonzero(feasibility.allowed[unit])
            every = [np.where(feasibility.unit_of == unit, device, row) for device in devices]
            moved = [
                new for new in every if (new != row).any() and feasibility.violation(new) is None
            ]
            moved = moved[:left]
            left -= max(1, len(moved))
            if not moved:
                continue
            losses = loss(np.array(moved))
            if losses.min() <= lowest:
                row, lowest = moved[losses.argmin()], losses.min()
        return Placement(problem, row)
