"""Coarsen, place, expand: graphs of up to millions of operators, refined on the true objective."""

from dataclasses import dataclass

import numpy as np

from sim.search import Instance, Schedule
from streamplace.arrays import Ints
from streamplace.errors import UsageError
from streamplace.grouping import Quotient
from streamplace.placement import Placement
from streamplace.placers.annealing import NEARBY, Annealer, Chain, moved_to_allowed
from streamplace.placers.base import devices_of_parts, parts_for
from streamplace.placers.levels import levels_of
from streamplace.placers.metis import cut
from streamplace.placers.repair import feasible
from streamplace.problem import Problem

# try after try: of what a device may hold, what one group may have; and how hot the coarsest begins
SETTINGS = (0.2, 0.05), (0.3, 0.05), (0.1, 0.2), (0.3, 0.2)
NEAR = 1.02  # times the least possible load: close enough
TRIES, TRIED = 20, 60_000  # contractions at most, and units that they have together
CHAINS = 2  # from METIS's parts of the coarsest level
FEWEST, MOST = 30, 600  # changes tried a group there: as many as cost what the finest level does
COARSE_COLD = 0.001
FINE_HOT, FINE_COLD = 5e-4, 1e-6


@dataclass(frozen=True)
class Multilevel:
    """Join operators along heavy streams until few groups are left, place those, and refine.

    Every level is annealed on the largest utilisation while the groups are taken apart again
    (after Karypis and Kumar 1998, with the throughput in place of the cut). It goes on where
    everything keeps up, for headroom.

    Parameters
    ----------
    changes
        Tried a group at each level.
    """

    changes: int = 5

    def __post_init__(self) -> None:
        if self.changes < 1:
            raise UsageError(f"multilevel: changes must be at least 1 (got {self.changes})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints ask for it."""
        rules, annealer = problem.feasibility, Annealer(problem, rng, headroom=True)
        best = self._tried(problem, annealer, *SETTINGS[0], None)
        for number in range(1, min(TRIES, TRIED // rules.unit_count)):
            if annealer.near(best, NEAR):
                break
            inside = best.on if number % 2 == 1 else None
            setting = SETTINGS[number % len(SETTINGS)]
            again = self._tried(problem, annealer, *setting, inside)
            best = max(best, again, key=lambda chain: chain.reached)
        row = best.on[rules.unit_of]
        if rules.violation(row) is not None:
            repaired = feasible(problem, row).devices[rules.first_of]
            row = self._refined(annealer, annealer.job, repaired).on[rules.unit_of]
        return Placement(problem, row)

    def _tried(
        self, problem: Problem, annealer: Annealer, share: float, hot: float, inside: Ints | None
    ) -> Chain:
        """Contract, place the groups, and take them apart again."""
        levels = levels_of(problem, share, inside)
        coarsest = levels.jobs[-1]
        plan = self._coarse_plan(levels.jobs[0], coarsest, hot)
        if levels.on is None:
            chain = _placed(problem, annealer, coarsest, plan)
        else:
            chain = annealer.chain(coarsest, levels.on, plan)
        for job, group in zip(levels.jobs[-2::-1], levels.groups[::-1], strict=True):
            chain = self._refined(annealer, job, chain.on[group])
        return chain

    def _coarse_plan(self, finest: Instance, coarsest: Instance, hot: float) -> Schedule:
        each = self.changes * len(finest.other) // (CHAINS * max(1, len(coarsest.other)))
        changes = len(coarsest.work) * min(MOST, max(FEWEST, each))
        return Schedule(changes, hot, COARSE_COLD, *NEARBY)

    def _refined(self, annealer: Annealer, job: Instance, on: Ints) -> Chain:
        plan = Schedule(self.changes * len(on), FINE_HOT, FINE_COLD, *NEARBY)
        return annealer.chain(job, on, plan)


def _placed(problem: Problem, annealer: Annealer, job: Instance, plan: Schedule) -> Chain:
    """Return the best of several chains from METIS's parts."""
    quotient = _quotient(job)
    parts = min(parts_for(problem, None), len(job.work))
    found: list[Chain] = []
    for number in range(CHAINS):
        part_of = cut(problem, quotient, parts, recursive=number % 2 == 1)
        start = moved_to_allowed(job, devices_of_parts(problem, part_of, job.work))
        found.append(annealer.chain(job, start, plan))
        if annealer.near(found[-1], NEAR):
            break
    return max(found, key=lambda chain: chain.reached)


def _quotient(job: Instance) -> Quotient:
    """Return units and the streams between them as METIS takes them."""
    unit_of_end = np.repeat(np.arange(len(job.work), dtype=np.int32), np.diff(job.first_end))
    out = job.outward
    return Quotient(job.work, unit_of_end[out], job.other[out], job.bits[out])
