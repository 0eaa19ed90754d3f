"""DOPPLER's EnumerativeOptimizer: groups of similar operators on different devices."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.schedule.enumerative import enumerative_placement
from sim.schedule.task_graph import TaskGraph
from streamplace.placers.base import MAKESPAN, BasePlacer
from streamplace.placers.scheduling.passes import pass_evaluator, repaired
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


@dataclass(frozen=True)
class Enumerative(BasePlacer):
    """Assign the operators of a group to different devices, at the least time of messages to them.

    A group is a set of operators of one level with the same ``meta_op``, or, without one, of the
    same type and cost; larger sets are split into groups of as many operators as there are devices.
    With up to eight devices, all assignments of a group are tried; with more, the best one is
    computed as a linear assignment, which is equivalent.
    """

    name: ClassVar[str] = "enumerative"
    objectives: ClassVar[frozenset[str]] = MAKESPAN

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it.

        Raises
        ------
        UnsuitableError
            If the objective is throughput.
        PlacementError
            If no feasible placement was found.
        """
        compiled = pass_evaluator(problem, self.name).compiled
        groups = _groups(problem.graph, compiled.tasks, problem.feasibility.unit_of)
        first = np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32)
        member = np.concatenate(groups).astype(np.int32)
        draft = enumerative_placement(compiled.tasks, compiled.rules, first, member)
        return repaired(problem, draft)


def _groups(graph: StreamGraph, tasks: TaskGraph, unit_of: Ints) -> list[list[int]]:
    """Return groups of operators of different units, sorted by level."""
    similar: defaultdict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for v, level in enumerate(tasks.level.tolist()):
        shared: Hashable = graph.meta_op.get(v)
        if shared is None:
            times = tuple(sorted(graph.seconds_on.get(v, {}).items()))
            shared = graph.type.get(v), float(tasks.work[v]), times
        similar[level, shared].append(v)
    groups: list[list[int]] = []
    for _, operators in sorted(similar.items(), key=lambda item: (item[0][0], item[1][0])):
        rest = operators
        while rest:
            group = _different_units(rest, tasks.devices, unit_of)
            groups.append(group)
            taken = set(group)
            rest = [v for v in rest if v not in taken]
    return groups


def _different_units(operators: list[int], most: int, unit_of: Ints) -> list[int]:
    """Return the first operators that are of different units."""
    by_unit: dict[int, int] = {}
    for v in operators:
        by_unit.setdefault(int(unit_of[v]), v)
        if len(by_unit) == most:
            break
    return list(by_unit.values())
