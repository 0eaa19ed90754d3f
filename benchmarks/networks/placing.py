"""Makespans of plain placers on a problem with unequal devices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import placer_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import violations
from streamplace.sim import work_clock

PLACERS: Mapping[str, str] = {
    "HEFT": "heft",
    "PEFT": "peft",
    "climb": "climb",
    "search": "search:seconds=10.0",
}
"""Column -> placer; the time limit is CPU time."""


@dataclass(frozen=True)
class Row:
    """Makespans in seconds; None if a placer finds no feasible placement.

    Parameters
    ----------
    alone
        Kind of device -> the makespan with every operator on one such device.
    placed
        Column of `PLACERS` -> makespan.
    moved
        Number of operators that the best placement has away from its most used device.
    """

    operators: int
    streams: int
    alone: dict[str, float | None]
    placed: dict[str, float | None]
    moved: int

    @property
    def gain(self) -> float | None:
        """Share by which the best placement is shorter than the best device; None: no device."""
        alone = [time for time in self.alone.values() if time is not None]
        placed = [time for time in self.placed.values() if time is not None]
        return 1 - min(placed) / min(alone) if alone and placed else None


def row_of(problem: Problem, seed: int = 0) -> Row:
    """Return the makespans of every device alone and of every placer."""
    judge = MakespanEvaluator(problem)
    placed: dict[str, float | None] = {}
    best, fewest = np.inf, 0
    for column, text in PLACERS.items():
        found = _devices(problem, text, seed)
        placed[column] = time = None if found is None else float(judge.makespans(found)[0])
        if found is not None and time is not None and time < best:
            best, fewest = time, len(found) - int(np.bincount(found).max())
    graph = problem.graph
    alone = dict(_alone(problem, judge))
    return Row(len(graph.names), len(graph.stream_source), alone, placed, fewest)


def _devices(problem: Problem, text: str, seed: int) -> np.ndarray | None:
    placer = placer_of(text)
    with work_clock.cpu_time():
        try:
            return placer(problem, np.random.default_rng(seed)).devices
        except PlacementError:
            return None


def _alone(problem: Problem, judge: MakespanEvaluator) -> Iterator[tuple[str, float | None]]:
    kinds = [device.kind or "" for device in problem.cluster.devices]
    for kind in dict.fromkeys(kinds):
        devices = np.full(len(problem.graph.names), kinds.index(kind), np.int32)
        placement = Placement(problem, devices)
        yield kind, float(judge.makespans(devices)[0]) if not any(violations(placement)) else None
