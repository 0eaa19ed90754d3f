"""Multilevel placement of graphs with up to millions of operators."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.errors import Fault, UsageError
from streamplace.placers.base import THROUGHPUT, BasePlacer
from streamplace.placers.partition.cut import cut, published_weights
from streamplace.placers.partition.partitioner import devices_of_parts, parts_for
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import (
    NEARBY,
    Annealer,
    ChainResult,
    levels_of,
    moved_to_allowed,
    refine,
    refined_below,
)
from streamplace.problem.grouping import Quotient
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim.search import Instance, Schedule
from streamplace.util.arrays import Ints

# for each try in turn: maximum work of one group, as a share of the mean work per device; and the
# starting temperature at the coarsest level
# A try that has cut a heavy stream is hardly mended by the same settings.
SETTINGS = (0.2, 0.05), (0.3, 0.05), (0.1, 0.2), (0.3, 0.2)
# A try that ends above has cut a heavy stream, which single moves do not mend, so that another try
# is worth its time.
NEAR = 1.02  # stop when the load is within this factor of the least possible
# Each try costs as much as the first one: graphs of more than 30,000 units have only one. The
# numbers are guesses.
MAX_TRIES, MAX_UNITS = 20, 60_000  # limits on tries, and on the sum of units over all tries
CHAINS = 2  # chains at the coarsest level, from METIS's parts: k-way, then recursive bisection
MIN_CHANGES, MAX_CHANGES = 30, 600  # per group at the coarsest level; about the finest's cost
# Final temperature at the coarsest level; the levels below go on from there to `COLD`.
COARSE_COLD = 0.001


@dataclass(frozen=True)
class Multilevel(BasePlacer):
    """Join operators along heavy streams until few groups are left, place those, and refine.

    As the groups are split again, level by level, each level is annealed to reduce the largest
    utilisation (after Karypis and Kumar 1998, who reduce the cut). If the placement already
    sustains the source rate, annealing continues to gain headroom.

    Parameters
    ----------
    changes
        Changes tried per group at each level.
    """

    name: ClassVar[str] = "multilevel"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT
    changes: int = 5  # with few changes per group, time is linear and low; a guess, not tuned

    def __post_init__(self) -> None:
        if self.changes < 1:
            fault = f"changes must be at least 1 (got {self.changes})"
            raise UsageError(Fault(fault, place=(self.name,)))

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        feasibility, annealer = problem.feasibility, Annealer(problem, rng, headroom=True)
        best = self._attempt(problem, annealer, *SETTINGS[0], None)
        for number in range(1, min(MAX_TRIES, MAX_UNITS // feasibility.unit_count)):
            if annealer.near(best, NEAR):
                break
            # Every other try joins only what the best placement has together, and so improves it;
            # the others begin anew, to leave its neighbourhood.
            inside = best.on if number % 2 == 1 else None
            setting = SETTINGS[number % len(SETTINGS)]
            again = self._attempt(problem, annealer, *setting, inside)
            best = max(best, again, key=lambda chain: chain.reached)
        row = best.on[feasibility.unit_of]
        # Moves keep to constraints, but METIS's parts, from which they began, need not.
        if feasibility.violation(row) is not None:
            repaired = feasible(problem, row).devices[feasibility.first_of]
            row = refine(annealer, annealer.instance, repaired, self.changes).on[
                feasibility.unit_of
            ]
        return Placement(problem, row)

    def _attempt(
        self, problem: Problem, annealer: Annealer, share: float, hot: float, inside: Ints | None
    ) -> ChainResult:
        """Coarsen, place the groups, and refine level by level."""
        levels = levels_of(annealer.instance, share, inside)
        coarsest = levels.instances[-1]
        plan = self._coarse_plan(levels.instances[0], coarsest, hot)
        if inside is None:
            chain = _search_from_parts(problem, annealer, coarsest, plan)
        else:
            chain = annealer.chain(coarsest, levels.up(inside), plan)
        return refined_below(annealer, levels, len(levels.groups), chain, self.changes)

    def _coarse_plan(self, finest: Instance, coarsest: Instance, hot: float) -> Schedule:
        each = self.changes * len(finest.other) // (CHAINS * max(1, len(coarsest.other)))
        changes = len(coarsest.work) * min(MAX_CHANGES, max(MIN_CHANGES, each))
        return Schedule(changes, hot, COARSE_COLD, *NEARBY)


def _search_from_parts(
    problem: Problem, annealer: Annealer, instance: Instance, plan: Schedule
) -> ChainResult:
    """Return the best of several chains from METIS's parts."""
    graph = published_weights(_quotient(instance))
    parts = min(parts_for(problem, None), len(instance.work))
    chains: list[ChainResult] = []
    for number in range(CHAINS):
        part_of = cut(problem, graph, parts, recursive=number % 2 == 1)
        start = moved_to_allowed(instance, devices_of_parts(problem, part_of, instance.work))
        chains.append(annealer.chain(instance, start, plan))
        if annealer.near(chains[-1], NEAR):
            break
    return max(chains, key=lambda chain: chain.reached)


def _quotient(instance: Instance) -> Quotient:
    """Return units and the streams between them in the form that METIS takes."""
    unit_of_end = np.repeat(
        np.arange(len(instance.work), dtype=np.int32), np.diff(instance.first_end)
    )
    out = instance.outward
    return Quotient(instance.work, unit_of_end[out], instance.other[out], instance.bits[out])
