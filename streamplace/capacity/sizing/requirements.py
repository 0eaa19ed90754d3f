"""What each operator requires: the numbers of instances with which it keeps up."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf

import numpy as np

from streamplace.capacity.sizing.instances import named_instances, of_whole_operators, tasks_of
from streamplace.capacity.sizing.shares import Shares, lowest_load
from streamplace.display.text import rounded_up
from streamplace.errors import Fault, GraphError, ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded, limits_of_count, stated_count
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import most_instances
from streamplace.problem.objective import Throughput
from streamplace.problem.parallelism import FLINK, MAX_PARALLELISM, NO_SCALING, Scaling
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.sim.search import own_loads, unit_loads
from streamplace.util.arrays import Floats

ROUNDING = 1e-9  # utilisation beyond 1 that is rounding
MOST_CHOICES = 16  # numbers that an operator may have, up to which all are choices
MAJOR = 0.5  # part of the load that makes what every instance receives, or a key, the cause
CHOICES = 8  # larger numbers that lower the load of the busiest instance, besides the least one


@dataclass(frozen=True)
class Requirement:
    """The numbers of instances with which an operator keeps up.

    Parameters
    ----------
    operator
        Its name.
    counts
        Numbers of instances in increasing order: all of them if they are few, otherwise those with
        a lower load of the busiest instance than all before; none if the operator cannot keep up.
    loads
        That load: the utilisation of the device, or of its cores, that suits it best.
    limit
        What limits the instances, such as ``16 partitions``, or what they carry together.
    at_most
        The source rate in tuples/s up to which the operator keeps up; inf without a limit.
    most
        The largest number of instances that its limits allow.
    evenly
        Whether neither scaling nor partitions make some larger numbers worse.
    has_all
        Whether `counts` has every number with which the operator keeps up.
    task
        The operators of its task, which have the same number; empty if it belongs to none.
    key
        The key that the limit is of; empty if it is of none.
    is_max
        Whether the limit is the operator's ``max_parallelism``.
    because
        The rules without which it would carry more, in words.
    """

    operator: str
    counts: tuple[int, ...]
    loads: tuple[float, ...]
    limit: str
    at_most: float
    most: int
    evenly: bool
    has_all: bool
    task: tuple[str, ...] = ()
    key: str = ""
    is_max: bool = False
    because: str = ""

    @property
    def cause(self) -> str:
        """The limit with its key."""
        return f"{self.limit} of key {self.key!r}" if self.key else self.limit

    def allows(self, count: int) -> bool:
        """Return whether the operator keeps up with a number of instances, as far as is known."""
        if count in self.counts:
            return True
        return bool(self.counts) and self.counts[0] <= count <= self.most and self.evenly

    @property
    def run(self) -> float:
        """How far above the least number every number is in `counts`; inf if there are no more."""
        if self.has_all:
            return inf
        run = 0
        while run + 1 < len(self.counts) and self.counts[run + 1] == self.counts[run] + 1:
            run += 1
        return inf if self.counts[run] == self.most else run

    def load(self, count: int) -> float:
        """Return the load of the busiest of some instances, about if they are not even."""
        if count in self.counts:
            return self.loads[self.counts.index(count)]
        return self.loads[0] * self.counts[0] / count

    def to_dict(self) -> dict[str, object]:
        """Return the entry of ``limits`` in `size --json`."""
        return {"operator": self.operator, "cause": self.cause, "at_most": self.at_most}

    def text(self) -> str:
        """Return what limits the operator, in words."""
        most = f"{rounded_up(self.at_most)} tuples/s at most"
        return f"{self.operator}: {self.cause}, {most}{self.because}"


def requirements(
    graph: StreamGraph,
    cluster: Cluster,
    objective: Throughput,
    constraints: Constraints,
    free: frozenset[str],
) -> list[Requirement]:
    """Return the requirement of each operator, at the objective's source rate.

    A single instance must not overload the cores that it can use, or the device, among those that
    may run it, where its utilisation is lowest. This is the rule of DS2 (Kalavri et al., OSDI 2018)
    for the target utilisation, with the skew of key groups and the cost of scaling.

    Parameters
    ----------
    free
        Names of the operators whose numbers may be chosen; the others keep what they state.

    Raises
    ------
    ProblemError
        If the constraints name an instance beyond the largest number of its operator.
    """
    ones = expanded(graph, dict.fromkeys(graph.names, 1))
    known = of_whole_operators(constraints, ones)
    rules = Constraints(known.pins, allowed=known.allowed)
    problem = Problem(ones, cluster, objective=objective, constraints=rules)
    named = named_instances(graph, constraints)
    ranges = [_range(graph, v, free, named) for v in range(len(graph.names))]
    tasks = _with_common_range(graph, tasks_of(graph, constraints.colocate), ranges, free)
    alone, shares = _alone(problem), Shares(graph, _tuples(graph, problem))
    loads = [
        partial(_load, alone[v], graph.scaling.get(v, NO_SCALING), partial(shares.busiest, v))
        for v in range(len(graph.names))
    ]
    floors = [float(alone[v]) * shares.least(v) for v in range(len(graph.names))]
    found = [
        _requirement(graph, v, ranges[v], loads[v], floors[v], shares, problem.source_rate, free)
        for v in range(len(graph.names))
    ]
    for task in tasks:
        of_task = _of_task(found, loads, floors, task, problem.source_rate)
        for v, one in zip(task, of_task, strict=True):
            found[v] = one
    return found


def _requirement(
    graph: StreamGraph,
    v: int,
    limits: tuple[int, int],
    load: Callable[[int], float],
    floor: float,
    shares: Shares,
    source_rate: float,
    free: frozenset[str],
) -> Requirement:
    """Return what an operator requires on its own, within limits of its number of instances.

    Parameters
    ----------
    floor
        A load that the busiest instance has, whatever their number.
    """
    name, (least, most) = graph.names[v], limits
    is_even = v not in shares.uneven and v not in graph.scaling
    if is_even and limits == (1, MAX_PARALLELISM) and (alone := load(1)) < most - CHOICES:
        counts = range(first := max(1, ceil(alone / (1.0 + ROUNDING))), first + CHOICES + 1)
        limit, loads = f"{most:,} instances", tuple(alone / count for count in counts)
        return Requirement(name, tuple(counts), loads, limit, inf, most, True, False)
    few, is_bounded = most - least < MOST_CHOICES, most < MAX_PARALLELISM
    choices = list[tuple[int, float]]()
    if few or is_bounded or floor <= 1.0 + ROUNDING:
        choices = list(_choices(load, least, most, floor, every=few))
    fitting = [(count, each) for count, each in choices if each <= 1.0 + ROUNDING]
    lowest = floor
    if not fitting:  # so that all numbers were tried
        lowest = max(floor, min((each for _, each in choices), default=0.0))
    elif is_bounded or (graph.scaling.get(v) and not floor):
        lowest = lowest_load(load, least, most, graph.partitions.get(v))
    limit, key = shares.cause(v) if floor > MAJOR * lowest else ("", "")
    is_max = False
    if not limit:
        limit, is_max = _limit(graph, v, most, fixed=name not in free)
    return Requirement(
        name,
        tuple(count for count, _ in fitting),
        tuple(each for _, each in fitting),
        limit,
        source_rate / lowest if lowest > 0.0 else inf,
        most,
        not (graph.scaling.get(v) or graph.partitions.get(v)),
        few,
        key=key,
        is_max=is_max,
    )


def _of_task(
    several: Sequence[Requirement],
    loads: Sequence[Callable[[int], float]],
    floors: Sequence[float],
    task: Sequence[int],
    source_rate: float,
) -> Iterator[Requirement]:
    """Yield what the operators of a task require, with the numbers with which all keep up."""
    own, most = [several[v] for v in task], several[task[0]].most
    names = tuple(one.operator for one in own)
    if not all(one.counts for one in own):
        yield from (replace(one, task=names) for one in own)
        return
    least = max(one.counts[0] for one in own)
    few, evenly = most - least < MOST_CHOICES, all(one.evenly for one in own)
    floor = max(floors[v] for v in task)
    tried = list(_choices(lambda n: max(loads[v](n) for v in task), least, most, floor, every=few))
    counts = tuple(count for count, each in tried if each <= 1.0 + ROUNDING)
    lowest = 0.0 if counts else min(each for _, each in tried)
    for v, one in zip(task, own, strict=True):
        yield replace(
            one,
            task=names,
            counts=counts,
            loads=tuple(loads[v](count) for count in counts),
            at_most=min(one.at_most, source_rate / lowest) if lowest else one.at_most,
            evenly=evenly,
            has_all=few,
        )


def _range(
    graph: StreamGraph, v: int, free: frozenset[str], named: Mapping[str, tuple[int, str]]
) -> tuple[int, int]:
    """Return the least and the largest number of instances to consider for an operator."""
    name = graph.names[v]
    if name not in free:
        count = stated_count(graph, v) or 1
        return count, count
    least, most = limits_of_count(graph, v)
    return (
        (_least_of_names(name, least, most, *named[name]), most) if name in named else (least, most)
    )


def _with_common_range(
    graph: StreamGraph,
    tasks: Sequence[Sequence[int]],
    ranges: list[tuple[int, int]],
    free: frozenset[str],
) -> list[Sequence[int]]:
    """Give the operators of each task a common range; return the tasks that have one.

    Operators of a task that state different numbers, which are kept, are no task.
    """
    found = []
    for task in tasks:
        stated = {ranges[v] for v in task if graph.names[v] not in free}
        if len(stated) > 1:
            continue
        least, most = max(ranges[v][0] for v in task), min(ranges[v][1] for v in task)
        if least > most:
            names = listed([graph.names[v] for v in task])
            raise GraphError(
                f"operators: {names} are one task, but no number of instances is within the "
                "limits of all of them"
            )
        for v in task:
            ranges[v] = least, most
        found.append(task)
    return found


def _least_of_names(name: str, least: int, most: int, wanted: int, instance: str) -> int:
    """Return the least number of instances of an operator with which a named one exists."""
    if wanted > most:
        fault = f"unknown operator {instance!r}: {name!r} has at most {most:,} instances"
        raise ProblemError(Fault(fault, place=("constraints",), of_constraints=True))
    return max(least, wanted)


def lacking(several: Sequence[Requirement]) -> list[Requirement]:
    """Return the operators that cannot keep up, the one that carries least first."""
    return sorted((one for one in several if not one.counts), key=lambda one: one.at_most)


def _load(alone: float, scaling: Scaling, share: Callable[[int], float], count: int) -> float:
    """Return the load of the busiest of some instances."""
    return float(alone) * scaling.cost(count) * share(count)


def _choices(
    load: Callable[[int], float], least: int, most: int, floor: float, *, every: bool
) -> Iterator[tuple[int, float]]:
    """Yield numbers of instances and the load of the busiest one.

    Without `every`, each load is lower than all before, and `CHOICES` numbers follow the first one
    whose load is at most 1. Instances without any work are all equally good.

    Parameters
    ----------
    floor
        A load that the busiest instance has, whatever their number; none follows it.
    """
    lowest, after = inf, 0
    for count in range(least, most + 1):
        each = load(count)
        if not every and each >= lowest * (1.0 - ROUNDING) and each > 0.0:
            continue
        lowest = min(lowest, each)
        yield count, each
        after += each <= 1.0 + ROUNDING
        if not every and (after > CHOICES or 0.0 < lowest <= floor * (1.0 + ROUNDING)):
            return


def _alone(problem: Problem) -> Floats:
    """Return the load of each operator if one instance processes everything, (V,)."""
    instance, feasibility = compiled(problem).instance, problem.feasibility
    loads = np.maximum(unit_loads(instance), own_loads(instance)) * instance.reference
    least: Floats = np.where(feasibility.allowed, loads, np.inf).min(axis=1)
    return least[feasibility.unit_of]


def _tuples(graph: StreamGraph, problem: Problem) -> Floats:
    """Return the tuples/s on each stream of a graph, (E,), from the problem of single instances."""
    rate = flow(problem).operator_tuples
    tuples: Floats = rate[graph.stream_source] * np.nan_to_num(graph.selectivity)
    return tuples


def _limit(graph: StreamGraph, v: int, most: int, *, fixed: bool) -> tuple[str, bool]:
    """Return what limits the instances of an operator, and whether that is its largest number."""
    stated = graph.partitions.get(v, MAX_PARALLELISM)
    partitions, kind = most_instances(stated), "key groups" if stated == FLINK else "partitions"
    if fixed and most <= partitions:
        return f"parallelism {most:,}", False
    if most < MAX_PARALLELISM:
        is_max = partitions > most
        return (f"max_parallelism {most:,}" if is_max else f"{partitions:,} {kind}"), is_max
    return "scaling" if graph.scaling.get(v) else f"{most:,} instances", False
