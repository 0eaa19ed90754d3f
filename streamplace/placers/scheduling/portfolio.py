"""Placements to start a search for short makespans from."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from sim import work_clock
from streamplace.errors import GraphError, PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.partition.partitioners import MetisRecursive, parts_for
from streamplace.placers.repair import feasible
from streamplace.placers.scheduling.lists import Heft, Peft
from streamplace.placers.scheduling.passes import shortest
from streamplace.placers.scheduling.sampled import RandomEft
from streamplace.placers.search.annealing import Budget
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Ints

PORTFOLIO: tuple[Placer, ...] = (Heft(), Peft(links=True), RandomEft(samples=10), Single())
SAMPLES = 50  # placements by random list scheduling between two looks at the budget
CUT = 50  # evaluations that take about as long as one partition

Tries = Iterable[tuple[Placer, int]]
"""Placers to run, each with the evaluations that take as long."""


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
    return np.unique(np.stack(rows), axis=0).astype(np.int32)


def best_tried(
    scored: MakespanEvaluator, rng: np.random.Generator, tries: Tries, budget: Budget
) -> Ints:
    """Return the shortest placement, (1, V), of several tries within a budget; (0, V) if none."""
    rows = []
    for placer, evaluations in tries:
        if budget.left() == 0:
            break
        begun = work_clock.now()
        with suppress(PlacementError, GraphError):  # METIS needs tuples that reach a sink
            rows.append(placer(scored.problem, rng).devices)
        budget.charge(evaluations, work_clock.now() - begun)
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
    """Return METIS's recursive bisection for every number of parts from 2, the smallest first.

    Few parts are best where messages are slow; elsewhere, list schedules are good starts.
    """
    for parts in range(2, parts_for(problem, None) + 1):
        yield MetisRecursive(parts=parts), CUT
