"""Randomised list schedulers, of which the best of several placements is taken."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.schedule.lists import list_schedule
from sim.schedule.sampled import sampled_placements
from streamplace.errors import UsageError
from streamplace.placers.base import MAKESPAN, Found, ReportingPlacer
from streamplace.placers.scheduling.passes import pass_evaluator, repaired, shortest
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled_pass import CompiledPass
from streamplace.scoring.dispatch import mean_rank
from streamplace.util.arrays import Floats

MAX_CELLS = 1 << 24  # samples x operators that are kept at a time


class _Sampled(ReportingPlacer):
    """A randomised list scheduler, which plans its own schedules."""

    objectives: ClassVar[frozenset[str]] = MAKESPAN
    samples: int

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UsageError(f"{self.name}: samples must be at least 1 (got {self.samples})")

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the placement of shortest makespan, with the end of its own schedule.

        Raises
        ------
        UnsuitableError
            If the objective is throughput.
        PlacementError
            If no feasible placement was found.
        """
        scored = pass_evaluator(problem, self.name)
        compiled = scored.compiled
        tasks, rules, rank = compiled.tasks, compiled.rules, self.rank_of(compiled)
        state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        best, best_s, own_s = None, np.inf, None
        left = self.samples
        while left > 0:
            count = min(left, max(1, MAX_CELLS // tasks.operators))
            left -= count
            rows, lengths = sampled_placements(tasks, rules, rank, count, state)
            complete = rows[:, 0] >= 0
            if not complete.any():
                continue
            rows, lengths = rows[complete], lengths[complete]
            i = shortest(scored, rows)
            seconds = float(scored.makespans(rows[i])[0])
            if seconds < best_s:
                best, best_s, own_s = rows[i].copy(), seconds, float(lengths[i])
        if best is not None:
            return Found(Placement(problem, best), own_schedule_s=own_s)
        draft = list_schedule(tasks, rules, mean_rank(tasks, compiled.masks)).devices
        return Found(repaired(problem, draft))

    def rank_of(self, compiled: CompiledPass) -> Floats | None:
        """Return the rank of each operator, (V,), or None for random operators."""
        raise NotImplementedError


@dataclass(frozen=True)
class CriticalPath(_Sampled):
    """The critical path method: the operator of highest rank goes where it starts first.

    Ranks are HEFT's. Ties between operators and between devices are broken at random. This is the
    method that DOPPLER compares itself with (2025).

    Parameters
    ----------
    samples
        Number of placements, of which the best is taken.
    """

    samples: int = 50
    name = "critical-path"

    def rank_of(self, compiled: CompiledPass) -> Floats | None:
        """Return HEFT's upward rank."""
        return mean_rank(compiled.tasks, compiled.masks)


@dataclass(frozen=True)
class RandomEft(_Sampled):
    """A random operator whose inputs are placed goes where it ends first.

    Parameters
    ----------
    samples
        Number of placements, of which the best is taken.
    """

    samples: int = 50
    name = "random-eft"

    def rank_of(self, compiled: CompiledPass) -> Floats | None:
        """Return None."""
        return None
