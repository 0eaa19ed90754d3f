"""Placements that placers improve: those of a few fast placers, or of one that is named."""

from contextlib import suppress

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import placer_of
from streamplace.placers.repair import feasible
from streamplace.placers.trivial import Greedy, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints


def fast_placement(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the best placement of a few fast placers."""
    fast = problem.objective.function("fast") or Greedy()
    placement: Placement = fast(problem, rng)
    return placement


def best_of_simple(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the better one of a greedy placement and of one device, if one may run all."""
    found = [Greedy()(problem, rng)]
    with suppress(PlacementError):
        found.append(Single()(problem, rng))
    losses = evaluator(problem).loss(np.stack([each.devices for each in found]))
    return found[int(losses.argmin())]


class StartingPlacer(BasePlacer):
    """Base of placers that improve a placement, with the option `start`.

    Attributes
    ----------
    start
        The placer of the placement to improve, where there is none; empty: the best of a few fast
        placers.
    """

    start: str

    @property
    def begins_from(self) -> str | None:
        """What it improves without an initial placement, in words; None: it builds placements."""
        return (self.start or "the best of quick placers") if self.uses_start else None

    def begun(self, problem: Problem, rng: np.random.Generator) -> Placement:
        """Return the placement that it improves without an initial one; see `placement_of`."""
        return placement_of(self.start, problem, rng)


def placement_of(start: str, problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the placement of a placer to start from, repaired where it violates a constraint.

    Parameters
    ----------
    start
        The name of a placer; empty: the best of a few fast ones.

    Raises
    ------
    UsageError
        If there is no such placer.
    PlacementError
        If it finds no feasible placement.
    """
    if not start:
        return fast_placement(problem, rng)
    return feasible(problem, placer_of(start)(problem, rng).devices)


def first_row(problem: Problem) -> Ints:
    """Return a feasible placement, (V,), with all operators on the first possible device."""
    feasibility = problem.feasibility
    for device in np.flatnonzero(feasibility.allowed.any(axis=0)):
        row = np.full(len(problem.graph.names), device, np.int32)
        if feasibility.violation(row) is None:
            return row
    first: Ints = feasibility.allowed.argmax(axis=1).astype(np.int32)
    return feasible(problem, first[feasibility.unit_of]).devices
