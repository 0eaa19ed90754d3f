"""List schedulers: HEFT, PEFT, CPOP, those of Baechi, and randomised ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.errors import Fault, UsageError
from streamplace.makespan.compiled_pass import CompiledPass, mean_rank
from streamplace.makespan.placers.passes import feasible_draft, pass_evaluator, shortest
from streamplace.placers.base import MAKESPAN, BasePlacer, Found, ReportingPlacer
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim.rules import nothing_placed_in, offer, put_in
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.contention import contention_schedule
from streamplace.sim.schedule.earliest import earliest_schedule
from streamplace.sim.schedule.lists import ListSchedule, list_schedule
from streamplace.sim.schedule.ranks import (
    downward_rank,
    mean_messages,
    mean_seconds,
    optimistic_costs,
    upward_rank,
    with_ties,
)
from streamplace.sim.schedule.sampled import sampled_schedules
from streamplace.sim.schedule.task_graph import TaskGraph
from streamplace.util.arrays import Floats, Ints

# Relative difference of priorities that counts as none: sums of ranks in two directions round.
EQUAL = 1e-9
NOWHERE = -1  # no device, as in sim/rules.py
ETF_SLOW_FROM = 20_000  # operators: 4,000 ready ones take 0.7 s on 5 devices, 2,000 0.5 s on 16
MAX_CELLS = 1 << 22  # samples x operators that are kept at a time, of 20 bytes each: 80 MB


def found_by_list(problem: Problem, schedule: ListSchedule) -> Found:
    """Return the placement of a schedule, with the order in which it starts operators."""
    order = problem.graph.order  # of two that start at once, one without length comes first
    by_start = np.lexsort((schedule.end[order], schedule.start[order]))
    return Found(Placement(problem, schedule.devices), own_order=order[by_start])


class _Scheduler(ReportingPlacer):
    """A list scheduler, which plans its own schedule."""

    objectives: ClassVar[frozenset[str]] = MAKESPAN

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the placement with the order of its own schedule."""
        made = self.scheduled(pass_evaluator(problem, self.name).compiled)
        if made.is_feasible and problem.feasibility.violation(made.devices) is None:
            return found_by_list(problem, made)
        return Found(feasible_draft(problem, made.devices))

    def scheduled(self, compiled: CompiledPass) -> ListSchedule:
        """Return the schedule that the placer plans."""
        raise NotImplementedError


@dataclass(frozen=True)
class Heft(_Scheduler):
    """HEFT: the operator of highest upward rank goes where it ends first (Topcuoglu et al. 2002).

    Ranks use mean times over the devices that may run an operator, and mean times of messages over
    all pairs of different devices that may run both ends (see `streamplace.sim.schedule.ranks`). An
    operator may be inserted into a gap of a device. The paper breaks ties at random; here the
    operator that comes first in the graph goes first, and of the devices where it ends first, the
    one where it starts first.

    Parameters
    ----------
    contention
        Whether messages wait for their channels (Sinnen and Sousa 2005).
    """

    contention: bool = False
    name = "heft"

    def scheduled(self, compiled: CompiledPass) -> ListSchedule:
        rank = mean_rank(compiled.tasks, compiled.masks)
        if self.contention:
            return contention_schedule(compiled.tasks, compiled.rules, rank)
        return list_schedule(compiled.tasks, compiled.rules, rank)


@dataclass(frozen=True)
class Peft(_Scheduler):
    """PEFT: devices are chosen with an optimistic cost table (Arabnejad and Barbosa 2014).

    The ready operator with the highest mean cost in the table goes to the device where the sum of
    its end and its cost is the lowest. Messages in the table take their mean time, and none within
    a device. Operators are inserted and ties are broken as by HEFT.

    Parameters
    ----------
    links
        Whether messages in the table take the time of the link between two devices instead of their
        mean time, as in SAGA 2.1. Where links are equal, that is the same.
    """

    links: bool = False
    name = "peft"

    def scheduled(self, compiled: CompiledPass) -> ListSchedule:
        allowed, row_of = compiled.masks
        messages = None if self.links else mean_messages(compiled.tasks, allowed, row_of)
        ahead = optimistic_costs(compiled.tasks, allowed, row_of, messages)
        may = allowed[row_of]
        rank = with_ties(np.where(may, ahead, 0.0).sum(axis=1) / may.sum(axis=1))
        return list_schedule(compiled.tasks, compiled.rules, rank, ahead)


@dataclass(frozen=True)
class Cpop(_Scheduler):
    """CPOP: the critical path goes to the device that is fastest for it (Topcuoglu et al. 2002).

    The ready operator with the highest sum of both ranks goes first. It
    goes where it ends first unless it is on the critical path. Means, insertion and ties are those
    of HEFT.
    """

    name = "cpop"

    def scheduled(self, compiled: CompiledPass) -> ListSchedule:
        tasks, masks = compiled.tasks, compiled.masks
        costs = mean_seconds(tasks, *masks), mean_messages(tasks, *masks)
        priority = with_ties(upward_rank(tasks, *costs) + downward_rank(tasks, *costs))
        preferred = preferred_devices(tasks, priority, times_on(tasks.columns, *masks))
        return list_schedule(tasks, compiled.rules, priority, None, preferred)


def preferred_devices(tasks: TaskGraph, priority: Floats, seconds: Floats) -> Ints:
    """Return CPOP's device for operators on the critical path, (V,); -1 for the others.

    Parameters
    ----------
    priority
        (V,) upward rank plus downward rank, in seconds.
    seconds
        (V, D) time of each operator on each device; infinity where it cannot run.
    """
    path = _critical_path(tasks.source, tasks.target, tasks.inputs, priority)
    total = seconds[path].sum(axis=0)
    preferred = np.full(tasks.operators, NOWHERE, np.int32)
    if np.isfinite(total.min()):
        preferred[path] = total.argmin()
    return preferred


def _critical_path(source: Ints, target: Ints, inputs: Ints, priority: Floats) -> list[int]:
    """Return operators from a source to a sink, all of the highest priority up to rounding."""
    sources = np.flatnonzero(inputs == 0)
    path = [int(sources[priority[sources].argmax()])]
    least = priority[path[0]] * (1.0 - EQUAL)
    for v, w in zip(source.tolist(), target.tolist(), strict=True):
        if v == path[-1] and priority[w] >= least:
            path.append(w)
    return path


@dataclass(frozen=True)
class EarliestTaskFirst(_Scheduler):
    """m-ETF: the ready operator that can start first goes where it does (Baechi, 2020).

    Only devices with enough memory left count. Ties go to the operator that comes first in the
    graph, and then to the first device.
    """

    name = "m-etf"
    faster: ClassVar[str] = "heft and auto place large graphs faster"

    @property
    def slow_from(self) -> int:
        """The number of operators from which it takes minutes where most are ready at once."""
        return ETF_SLOW_FROM

    def scheduled(self, compiled: CompiledPass) -> ListSchedule:
        return earliest_schedule(compiled.tasks, compiled.rules)


@dataclass(frozen=True)
class TopologicalFill(BasePlacer):
    """m-TOPO: operators fill one device after the other, in topological order (Baechi, 2020).

    A device is full once the next operator would exceed the memory that it has, or an even share of
    all memory and the largest operator's. Costs play no part, and without sizes of memory all
    operators go to the first device. Where constraints keep an operator from the device in turn, it
    goes to the next one that they allow.
    """

    name: ClassVar[str] = "m-topo"
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
        rules = pass_evaluator(problem, self.name).compiled.rules
        needs = np.bincount(rules.unit_of, problem.graph.memory_bytes)
        sizes = [device.memory_bytes for device in problem.cluster.devices]
        count, room = len(sizes), np.array([np.inf if size is None else size for size in sizes])
        room = np.minimum(room, needs.sum() / count + needs.max())
        placed, offered = nothing_placed_in(rules, 1), np.empty((1, count), np.bool_)
        (device,), used, turn = placed.device, np.zeros(count), 0
        for v in problem.graph.order:
            unit = rules.unit_of[v]
            if device[unit] != NOWHERE:
                continue
            while turn < count - 1 and used[turn] + needs[unit] > room[turn]:
                turn += 1
            offer(rules, placed, v, offered)
            possible = np.flatnonzero(offered[0])
            chosen = possible[np.searchsorted(possible, turn) % len(possible)]
            used[chosen] += needs[unit]
            put_in(rules, placed, v, np.array([chosen], np.int32))
        return feasible_draft(problem, device[rules.unit_of])


class _Sampled(ReportingPlacer):
    """A randomised list scheduler, which plans its own schedules."""

    objectives: ClassVar[frozenset[str]] = MAKESPAN
    ranked: ClassVar[bool]  # whether operators come by HEFT's rank, or at random
    samples: int

    def __post_init__(self) -> None:
        if self.samples < 1:
            fault = f"samples must be at least 1 (got {self.samples})"
            raise UsageError(Fault(fault, place=(self.name,)))

    def run(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Found:
        """Return the placement of shortest makespan, with the order of its own schedule."""
        scored = pass_evaluator(problem, self.name)
        compiled = scored.compiled
        tasks, rules = compiled.tasks, compiled.rules
        rank = mean_rank(tasks, compiled.masks) if self.ranked else None
        state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        best, best_s = None, np.inf
        left = self.samples
        while left > 0:
            count = min(left, max(1, MAX_CELLS // tasks.operators))
            left -= count
            drawn = sampled_schedules(tasks, rules, rank, count, state)
            complete = np.flatnonzero(drawn.devices[:, 0] >= 0)
            if not len(complete):
                continue
            i = int(complete[shortest(scored, drawn.devices[complete])])
            seconds = float(scored.makespans(drawn.devices[i])[0])
            if seconds < best_s:
                best, best_s = drawn.schedule(i), seconds
        if best is not None:
            return found_by_list(problem, best)
        draft = list_schedule(tasks, rules, mean_rank(tasks, compiled.masks)).devices
        return Found(feasible_draft(problem, draft))


@dataclass(frozen=True)
class CriticalPath(_Sampled):
    """The critical path method: the operator of highest rank goes where it starts first.

    Ranks are HEFT's. Ties between operators and between devices are broken at random. This is the
    method that DOPPLER compares itself with (2025).

    Parameters
    ----------
    samples
        Number of placements, of which the best is taken.
    """

    samples: int = 50  # as in DOPPLER's tables, "the best of 50 critical paths"
    name = "critical-path"
    ranked = True


@dataclass(frozen=True)
class RandomEft(_Sampled):
    """A random operator whose inputs are placed goes where it ends first.

    Parameters
    ----------
    samples
        Number of placements, of which the best is taken.
    """

    samples: int = 50  # as many as critical paths
    name = "random-eft"
    ranked = False
