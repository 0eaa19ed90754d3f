"""Enumerated placements, and the throughput of placements."""

from typing import Any

import numpy as np

from streamplace import Placement, Problem
from streamplace.placers.base import Placer
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Ints
from streamplace.workflows.place import place_problem
from streamplace.workflows.result import Result


def solve(problem: Problem, placer: str | Placer = "auto", seed: int = 0, **options: Any) -> Result:
    """Return the result of placing a problem whose objective is throughput."""
    result = place_problem(problem, placer, seed, **options)
    assert isinstance(result, Result)
    return result


def throughput_of(problem: Problem, devices: Ints) -> float:
    """Return the throughput of one placement, as device indices."""
    return float(throughput(problem, devices)[0])


def placement_throughput(placement: Placement) -> float:
    """Return the throughput of a placement."""
    return throughput_of(placement.problem, placement.devices)


def every_placement(problem: Problem) -> Ints:
    """Return all placements of a small problem, feasible or not, one per row."""
    shape = (len(problem.cluster.devices),) * len(problem.graph.names)
    rows = np.unravel_index(np.arange(np.prod(shape)), shape)
    return np.stack(rows, axis=1).astype(np.int32)


def some_placement_is_feasible(problem: Problem) -> bool:
    """Return whether any placement of a small problem is feasible."""
    return any(problem.feasibility.violation(row) is None for row in every_placement(problem))
