"""Trivial baselines: one device, round robin, random."""

from dataclasses import dataclass

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class Single:
    """Place all operators on the fastest device that may run all of them."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, or raise PlacementError if no single device is feasible."""
        for device in problem.cluster.fastest_first:
            devices = np.full(len(problem.graph.names), device, dtype=np.int32)
            if problem.feasibility.violation(devices) is None:
                return Placement(problem, devices)
        raise PlacementError("no single device may run every operator")


@dataclass(frozen=True)
class RoundRobin:
    """Place operator i on device i modulo the number of devices."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        operators = np.arange(len(problem.graph.names), dtype=np.int32)
        return feasible(problem, operators % len(problem.cluster.devices))


@dataclass(frozen=True)
class Random:
    """Place every operator on a device drawn uniformly at random."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        count = len(problem.cluster.devices)
        devices = rng.integers(0, count, len(problem.graph.names), dtype=np.int32)
        return feasible(problem, devices)
