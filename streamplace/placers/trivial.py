"""Simple baselines: one device, round robin, random, and greedy."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import THROUGHPUT, BasePlacer
from streamplace.placers.budget import check_limits
from streamplace.placers.repair import by_preference, feasible
from streamplace.problem.objectives import check_order
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import evaluator, qualities_of_rows
from streamplace.sim import greedy
from streamplace.util.arrays import Ints
from streamplace.util.plugins import load_ours

TRAVERSAL = "streamplace.scoring.orders:traversal_order"
"""Returns the operators in a traversal order; loaded once a placer is given one."""


@dataclass(frozen=True)
class Single(BasePlacer):
    """Place all operators on the fastest device that may run all of them.

    Under objectives without source rates, such as the makespan, it is the device of least loss.
    """

    name: ClassVar[str] = "single"

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, or raise PlacementError if no single device is feasible."""
        rows = on_one_device(problem)
        row = next(rows, None) if problem.objective.has_rates else _least(problem, rows)
        if row is not None:
            return Placement(problem, row)
        raise PlacementError("no single device may run every operator")


def _least(problem: Problem, rows: Iterator[Ints]) -> Ints | None:
    """Return the placement of least loss; of devices that are alike, only one is tried."""
    kinds, tried = interchangeable(problem), set[int]()
    best, least = None, inf
    for row in rows:
        kind = int(kinds[row[0]])
        if kind not in tried:
            tried.add(kind)
            loss = float(evaluator(problem).loss(row)[0])
            if loss < least:
                best, least = row, loss
    return best


def on_one_device(problem: Problem) -> Iterator[Ints]:
    """Yield the feasible placements, (V,), on one device, the fastest device first."""
    for device in problem.cluster.fastest_first:
        devices = np.full(len(problem.graph.names), device, dtype=np.int32)
        if problem.feasibility.violation(devices) is None:
            yield devices


@dataclass(frozen=True)
class InOrder(BasePlacer):
    """A placer that visits the operators in a traversal order; an empty one is its own."""

    order: str = ""

    def __post_init__(self) -> None:
        if self.order:
            check_order(self.order)

    def _visited(self, problem: Problem, rng: np.random.Generator) -> Ints | None:
        """Return the operators in the traversal order, (V,); None in the placer's own."""
        if not self.order:
            return None
        visited: Ints = load_ours(TRAVERSAL)(problem, self.order, rng)
        return visited


@dataclass(frozen=True)
class RoundRobin(InOrder):
    """Place the i-th operator on device i modulo the number of devices.

    Parameters
    ----------
    order
        The traversal order in which operators are counted, see `scoring.orders`; by default, the
        order of the graph.
    """

    name: ClassVar[str] = "round-robin"

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        turns = np.arange(len(problem.graph.names), dtype=np.int32) % len(problem.cluster.devices)
        visited = self._visited(problem, rng)
        devices = turns.copy()
        if visited is not None:
            devices[visited] = turns
        return feasible(problem, devices)


@dataclass(frozen=True)
class Random(BasePlacer):
    """Place every operator on a device drawn uniformly at random from those that may run it.

    Colocated operators are drawn together. Where a draw violates a limit that depends on other
    operators, such as memory, the operator goes to another device, drawn in the same way.

    Parameters
    ----------
    evaluations
        Number of placements, of which the best is taken.
    """

    name: ClassVar[str] = "random"
    evaluations: int = 1

    def __post_init__(self) -> None:
        check_limits(self.name, None, self.evaluations)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, or the best one."""
        best, reached = self._drawn(problem, rng), -inf
        for number in range(self.evaluations if self.evaluations > 1 else 0):
            placement = self._drawn(problem, rng) if number else best
            quality = float(qualities_of_rows(problem, placement.devices[None])[0])
            if quality > reached:
                best, reached = placement, quality
        return best

    def _drawn(self, problem: Problem, rng: np.random.Generator) -> Placement:
        feasibility, count = problem.feasibility, len(problem.cluster.devices)
        if feasibility.is_free:
            devices = rng.integers(0, count, len(problem.graph.names), dtype=np.int32)
            return Placement(problem, devices)
        drawn = [rng.permutation(np.flatnonzero(row)).tolist() for row in feasibility.allowed]
        return by_preference(problem, drawn)


@dataclass(frozen=True)
class Greedy(InOrder):
    """Place each operator where the utilisations that it raises are lowest.

    See `streamplace.sim.greedy`.

    Parameters
    ----------
    order
        The traversal order in which operators are placed, see `scoring.orders`; by default, from
        sources to sinks.
    """

    name: ClassVar[str] = "greedy"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where groups or memory require it."""
        visited, masks = self._visited(problem, rng), problem.feasibility.masks
        return feasible(problem, greedy.greedy(flow(problem), *masks, visited))
