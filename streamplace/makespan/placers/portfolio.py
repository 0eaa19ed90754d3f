"""Placements to start a search for short makespans from."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from streamplace.errors import GraphError, PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.lists import Heft, Peft, RandomEft
from streamplace.makespan.placers.passes import shortest
from streamplace.placers.base import Placer
from streamplace.placers.budget import Budget
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.placers.partition.partitioner import parts_for
from streamplace.placers.repair import feasible
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints, distinct_rows

# A schedule with and without a look ahead, chance, and no messages at all: quick ones of each kind.
PORTFOLIO: tuple[Placer, ...] = (Heft(), Peft(links=True), RandomEft(samples=10), Single())
# Placements by random list scheduling between two looks at the budget; a guess, not tuned.
SAMPLES = 50
CUT = 50  # evaluations that take about as long as one partition: METIS's 2 to 4 ms


def portfolio(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    placers: Iterable[Placer] = PORTFOLIO,
) -> Ints:
    """Return different feasible placements, (K, V): at least one.

    Raises
    ------
    PlacementError
        If none was found.
    """
    rows = [] if start is None else [feasible(problem, start.devices).devices]
    for placer in placers:
        with suppress(PlacementError, GraphError):  # METIS needs tuples that reach a sink
            rows.append(placer(problem, rng).devices)
    if not rows:
        rows.append(RoundRobin()(problem, rng).devices)
    return distinct_rows(rows)


@dataclass
class Tries:
    """Placers that are run in turn, beside a search and for a share of its evaluations.

    What is run depends on the evaluations of the search and not on the clock, so that a longer
    search with the same seed repeats a shorter one.

    Parameters
    ----------
    placers
        Each with the number of evaluations that take as long.
    share
        Evaluations for these placers per evaluation of the search.
    """

    placers: Iterator[tuple[Placer, int]]
    share: float
    _owed: float = 0.0

    def best(
        self, scored: MakespanEvaluator, rng: np.random.Generator, evaluations: int, budget: Budget
    ) -> Ints:
        """Run what a number of evaluations of the search pays for.

        Return the shortest placement, (1, V), or (0, V) if there is none.
        """
        self._owed += self.share * evaluations
        rows = []
        while self._owed > 0.0 and budget.left() > 0:
            placer, cost = next(self.placers, (None, 0))
            if placer is None:
                break
            begun = work_clock.now()
            with suppress(PlacementError, GraphError):  # METIS needs tuples that reach a sink
                rows.append(placer(scored.problem, rng).devices)
            budget.charge(cost, work_clock.now() - begun)
            self._owed -= cost
        if not rows:
            return np.empty((0, scored.tasks.operators), np.int32)
        return rows[shortest(scored, np.stack(rows))][None].astype(np.int32)


def samples(problem: Problem) -> Iterator[tuple[Placer, int]]:
    """Return random list schedulers without end; each tries every operator on every device."""
    count = 1
    while True:
        yield RandomEft(samples=count), count * len(problem.cluster.devices)
        count = min(2 * count, SAMPLES)


def partitions(problem: Problem) -> Iterator[tuple[Placer, int]]:
    """Return METIS, recursive and k-way, for every number of parts from 2, the smallest first.

    Few parts are best where messages are slow; elsewhere, list schedules are good starts.
    """
    for parts in range(2, parts_for(problem, None) + 1):
        yield MetisRecursive(parts=parts), CUT
        yield Metis(parts=parts), CUT
