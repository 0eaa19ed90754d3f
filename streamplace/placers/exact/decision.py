"""The decision problem whether any placement reaches some throughput, under `bottleneck`."""

from dataclasses import dataclass

import numpy as np

from sim.exact import (
    FOUND,
    OPEN,
    REFUTED,
    dive,
    refute,
    start_again,
    with_joined,
)
from sim.flow import crossing_seconds
from sim.search import Instance
from streamplace.placers.search.annealing import Budget
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats, Ints

FIRST, GROWTH = 1_000, 2.5  # nodes until the search starts again, and times as many each time
SLICE = 10_000  # nodes between two looks at the clock


@dataclass(frozen=True)
class Outcome:
    """What a search for a better placement came to; neither proven nor found if time was up."""

    proven: bool = False
    found: Placement | None = None

    @property
    def open(self) -> bool:
        """Whether it is still not known."""
        return not self.proven and self.found is None


class DecisionProblem:
    """Whether any placement reaches `wanted` tuples/s, up to rounding.

    Units that no such placement parts are joined.

    Attributes
    ----------
    instance
        The joined units.
    limit
        Load / reference that such a placement does not exceed.
    identical
        (D,) the last device before it that is alike, -1 if there is none.
    """

    def __init__(self, problem: Problem, wanted: float) -> None:
        self.problem, self.wanted = problem, wanted
        whole = compiled(problem).instance
        self.limit = problem.source_rate / (wanted * whole.reference)
        self.instance, self._group = with_joined(whole, self.limit)
        self.identical = identical_devices(problem)
        self._search = dive(
            self.instance, self.identical, self.limit, hardness(problem, self.instance)
        )
        self._budget = float(FIRST)
        self._left = FIRST

    def search(self, nodes: int, clock: Budget) -> Outcome:
        """Look at up to so many partial placements more, as long as there is time."""
        while nodes > 0 and clock.seconds_left() > 0:
            step = min(SLICE, nodes, self._left)
            verdict = refute(self.instance, self._search, self.limit, step)
            if verdict != OPEN:
                found = self.placement(self._search.now.on) if verdict == FOUND else None
                return Outcome(verdict == REFUTED, found)
            nodes -= step
            self._left -= step
            if self._left == 0:
                start_again(self._search)
                self._budget *= GROWTH
                self._left = int(self._budget)
        return Outcome()

    def placement(self, on: Ints) -> Placement:
        """Return the placement that has the joined units on devices, (U,)."""
        return Placement(self.problem, on[self._group][self.problem.feasibility.unit_of])


def identical_devices(problem: Problem) -> Ints:
    """Return the last device before each that is alike, (D,); -1 where there is none."""
    last: dict[int, int] = {}
    found = np.full(len(problem.cluster.devices), -1, dtype=np.int32)
    for d, kind in enumerate(interchangeable(problem).tolist()):
        found[d] = last.get(kind, -1)
        last[kind] = d
    return found


def hardness(problem: Problem, instance: Instance) -> Floats:
    """Return a guess of how hard units are to place, (U,): work and traffic, in utilisation."""
    arrays = flow(problem)
    gap_s, seconds_per_bit = crossing_seconds(arrays)
    ends = np.repeat(np.arange(len(instance.work)), np.diff(instance.first_end))
    traffic = np.bincount(
        ends,
        instance.tuples * gap_s + instance.bits * seconds_per_bit,
        minlength=len(instance.work),
    )
    hard: Floats = instance.work / instance.capacity.mean() + traffic
    return hard
