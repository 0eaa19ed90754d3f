"""Trivial baselines: one device, round robin, random."""

from dataclasses import dataclass

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class Single:
    """Everything on the fastest device that may run everything."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, or raise PlacementError."""
        for device in problem.cluster.fastest_first:
            devices = np.full(len(problem.graph.names), device, dtype=np.int32)
            if problem.feasibility.violation(devices) is None:
                return Placement(problem, devices)
        raise PlacementError("no one device may run every operator")


@dataclass(frozen=True)
class RoundRobin:
    """Operator i on device i modulo their number."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints ask for it."""
        operators = np.arange(len(problem.graph.names), dtype=np.int32)
        return feasible(problem, operators % len(problem.cluster.devices))


@dataclass(frozen=True)
class Random:
    """Every operator on a device drawn uniformly."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints ask for it."""
        count = len(problem.cluster.devices)
        devices = rng.integers(0, count, len(problem.graph.names), dtype=np.int32)
        return feasible(problem, devices)
