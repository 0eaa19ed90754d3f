"""Greedy placement: one operator after another goes where the bottleneck is lowest."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim import greedy
from streamplace.placers.base import THROUGHPUT, BasePlacer
from streamplace.placers.repair import feasible
from streamplace.problem.objectives import check_order
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order


@dataclass(frozen=True)
class Greedy(BasePlacer):
    """Places each operator where the utilisations that it raises are lowest; see `sim.greedy`.

    Parameters
    ----------
    order
        The traversal order in which operators are placed, see `scoring.orders`; by default, from
        sources to sinks.
    """

    name: ClassVar[str] = "greedy"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT
    order: str = ""

    def __post_init__(self) -> None:
        if self.order:
            check_order(self.order)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where groups or memory require it."""
        order = traversal_order(problem, self.order, rng) if self.order else None
        return feasible(problem, greedy.greedy(flow(problem), *problem.feasibility.masks, order))
