"""Coarsen, place, expand: graphs of up to millions of operators, refined on the true objective."""

from dataclasses import dataclass

import numpy as np

from sim.flow import crossing_seconds
from sim.search import Instance, Schedule, contracted, joined
from streamplace.arrays import Ints
from streamplace.errors import UsageError
from streamplace.flows import flow
from streamplace.grouping import Quotient
from streamplace.instances import instance_of
from streamplace.placement import Placement
from streamplace.placers.annealing import NEARBY, Annealer, Chain, moved_to_allowed
from streamplace.placers.base import devices_of_parts, parts_for
from streamplace.placers.metis import cut
from streamplace.placers.repair import feasible
from streamplace.problem import Problem

COARSEST = 8  # groups a device: fewer leave no choice, more take longer than they gain
SHARES = (0.2, 0.3, 0.1)  # of what a device may hold that one group may have, try after try
NEAR = 1.02  # times the least possible load: as good as can be told
TRIES, TRIED = 9, 30_000  # contractions from scratch at most, and units that they may have together
USELESS = 0.9  # of the units left: a contraction that leaves more is the last
CHAINS = 2  # at the coarsest level
FEWEST, MOST = 30, 600  # changes tried a group there: as many as cost what the finest level does
COARSE_HOT, COARSE_COLD = 0.05, 0.001
FINE_HOT, FINE_COLD = 0.003, 0.0003


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

    changes: int = 6

    def __post_init__(self) -> None:
        if self.changes < 1:
            raise UsageError(f"multilevel: changes must be at least 1 (got {self.changes})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints ask for it."""
        rules, annealer = problem.feasibility, Annealer(problem, rng, headroom=True)
        tries = min(TRIES, max(1, TRIED // rules.unit_count))
        found: list[Chain] = []
        for number in range(tries):
            found.append(self._found(problem, annealer, SHARES[number % len(SHARES)]))
            if annealer.near(found[-1], NEAR):
                break
        row = max(found, key=lambda chain: chain.reached).on[rules.unit_of]
        if rules.violation(row) is not None:
            start = feasible(problem, row).devices[rules.first_of]
            row = self._refined(annealer, annealer.job, start).on[rules.unit_of]
        return Placement(problem, row)

    def _found(self, problem: Problem, annealer: Annealer, share: float) -> Chain:
        """Contract, place the groups, and take them apart again."""
        levels, groups = _levels(problem, share)
        chain = self._coarsest(problem, annealer, levels[-1], len(levels[0].other))
        for job, group in zip(levels[-2::-1], groups[::-1], strict=True):
            chain = self._refined(annealer, job, chain.on[group])
        return chain

    def _refined(self, annealer: Annealer, job: Instance, on: Ints) -> Chain:
        plan = Schedule(self.changes * len(on), FINE_HOT, FINE_COLD, *NEARBY)
        return annealer.chain(job, on, plan)

    def _coarsest(self, problem: Problem, annealer: Annealer, job: Instance, ends: int) -> Chain:
        """Return the best of several chains from METIS's parts, devices of the groups."""
        groups = len(job.work)
        each = self.changes * ends // (CHAINS * max(1, len(job.other)))
        changes = groups * min(MOST, max(FEWEST, each))
        plan = Schedule(changes, COARSE_HOT, COARSE_COLD, *NEARBY)
        quotient = _quotient(job)
        parts = min(parts_for(problem, None), groups)
        found: list[Chain] = []
        for number in range(CHAINS):
            part_of = cut(problem, quotient, parts, recursive=number % 2 == 1)
            start = moved_to_allowed(job, devices_of_parts(problem, part_of, job.work))
            found.append(annealer.chain(job, start, plan))
            if found[-1].enough:
                break
        return max(found, key=lambda chain: chain.reached)


def _levels(problem: Problem, share: float) -> tuple[list[Instance], list[Ints]]:
    """Return the units, then ever larger groups of them; and which group each joins."""
    levels, groups = [instance_of(problem)], []
    devices = len(problem.cluster.devices)
    fewest = COARSEST * devices
    gap_s, per_bit = crossing_seconds(flow(problem))
    while len(levels[-1].work) > fewest:
        job = levels[-1]
        heaviest = share * job.work.sum() / devices
        traffic = job.tuples * gap_s + job.bits * per_bit
        group = joined(job, traffic if traffic.any() else job.tuples, heaviest, fewest)
        if group.max() + 1 > USELESS * len(group):
            break
        groups.append(group)
        levels.append(contracted(job, group))
    return levels, groups


def _quotient(job: Instance) -> Quotient:
    """Return units and the streams between them as METIS takes them."""
    unit_of_end = np.repeat(np.arange(len(job.work), dtype=np.int32), np.diff(job.first_end))
    out = job.outward
    return Quotient(job.work, unit_of_end[out], job.other[out], job.bits[out])
