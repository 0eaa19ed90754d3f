"""Greedy placement from sources to sinks: each operator goes where the bottleneck is lowest."""

from dataclasses import dataclass

import numpy as np

from sim import greedy
from streamplace.placers.base import needs_throughput
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow


@dataclass(frozen=True)
class Greedy:
    """Places each operator where the utilisations that it raises are lowest; see `sim.greedy`."""

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where groups or memory require it."""
        needs_throughput(problem, "greedy")
        return feasible(problem, greedy.greedy(flow(problem), *problem.feasibility.masks))
