"""What each operator requires: the numbers of instances with which it keeps up."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np

from sim.search import own_loads, unit_loads
from streamplace.display.text import number
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded, limits_of_count, stated_count
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.parallelism import MAX_PARALLELISM, NO_SCALING, Scaling
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats
from streamplace.workflows.sizing.lowest import lowest_load
from streamplace.workflows.sizing.named_instances import named_instances, of_whole_operators
from streamplace.workflows.sizing.shares import Shares

ROUNDING = 1e-9  # utilisation beyond 1 that is rounding
FEW = 16  # numbers that an operator may have, up to which all are choices
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
    cause
        What limits the instances, such as ``16 partitions``, or what they carry together.
    at_most
        The source rate in tuples/s up to which the operator keeps up; inf without a limit.
    most
        The largest number of instances that its limits allow.
    evenly
        Whether neither scaling nor partitions make some larger numbers worse.
    has_all
        Whether `counts` has every number with which the operator keeps up.
    """

    operator: str
    counts: tuple[int, ...]
    loads: tuple[float, ...]
    cause: str
    at_most: float
    most: int
    evenly: bool
    has_all: bool

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
        return f"{self.operator}: {self.cause}, {number(self.at_most)} tuples/s at most"


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
    alone, shares = _alone(problem), Shares(graph, _tuples(graph, problem))
    found = []
    for v, name in enumerate(graph.names):
        least, most = limits_of_count(graph, v)
        if name not in free:
            least = most = stated_count(graph, v) or 1
        elif name in named:
            least = _least_of_names(name, least, most, *named[name])
        load = partial(
            _load, alone[v], graph.scaling.get(v, NO_SCALING), partial(shares.busiest, v)
        )
        few, floor = most - least < FEW, float(alone[v]) * shares.least(v)
        is_bounded, choices = most < MAX_PARALLELISM, list[tuple[int, float]]()
        if few or is_bounded or floor <= 1.0 + ROUNDING:
            choices = list(_choices(load, least, most, every=few))
        fitting = [(count, each) for count, each in choices if each <= 1.0 + ROUNDING]
        lowest = floor
        if not fitting:  # so that all numbers were tried
            lowest = max(floor, min((each for _, each in choices), default=0.0))
        elif is_bounded or (graph.scaling.get(v) and not floor):
            lowest = lowest_load(load, least, most, graph.partitions.get(v))
        found.append(
            Requirement(
                name,
                tuple(count for count, _ in fitting),
                tuple(each for _, each in fitting),
                _cause(
                    graph,
                    v,
                    most,
                    shares.cause(v) if floor > MAJOR * lowest else "",
                    fixed=name not in free,
                ),
                problem.source_rate / lowest if lowest > 0.0 else inf,
                most,
                not (graph.scaling.get(v) or graph.partitions.get(v)),
                few,
            )
        )
    return found


def _least_of_names(name: str, least: int, most: int, wanted: int, instance: str) -> int:
    """Return the least number of instances of an operator with which a named one exists."""
    if wanted > most:
        raise ProblemError(
            f"constraints: unknown operator {instance!r}: {name!r} has at most {most:,} instances"
        )
    return max(least, wanted)


def lacking(several: Sequence[Requirement]) -> list[Requirement]:
    """Return the operators that cannot keep up, the one that carries least first."""
    return sorted((one for one in several if not one.counts), key=lambda one: one.at_most)


def _load(alone: float, scaling: Scaling, share: Callable[[int], float], count: int) -> float:
    """Return the load of the busiest of some instances."""
    return float(alone) * scaling.cost(count) * share(count)


def _choices(
    load: Callable[[int], float], least: int, most: int, *, every: bool
) -> Iterator[tuple[int, float]]:
    """Yield numbers of instances and the load of the busiest one.

    Without `every`, each load is lower than all before, and `CHOICES` numbers follow the first one
    whose load is at most 1. Instances without any work are all equally good.
    """
    lowest, after = inf, 0
    for count in range(least, most + 1):
        each = load(count)
        if not every and each >= lowest * (1.0 - ROUNDING) and each > 0.0:
            continue
        lowest = min(lowest, each)
        yield count, each
        after += each <= 1.0 + ROUNDING
        if not every and after > CHOICES:
            return


def _alone(problem: Problem) -> Floats:
    """Return the load of each operator if one instance processes everything, (V,)."""
    instance, rules = compiled(problem).instance, problem.feasibility
    loads = np.maximum(unit_loads(instance), own_loads(instance)) * instance.reference
    least: Floats = np.where(rules.allowed, loads, np.inf).min(axis=1)
    return least[rules.unit_of]


def _tuples(graph: StreamGraph, problem: Problem) -> Floats:
    """Return the tuples/s on each stream of a graph, (E,), from the problem of single instances."""
    rate = flow(problem).operator_tuples
    tuples: Floats = rate[graph.stream_source] * np.nan_to_num(graph.selectivity)
    return tuples


def _cause(graph: StreamGraph, v: int, most: int, skew: str, *, fixed: bool) -> str:
    """Return what limits the number of instances of an operator, or what they carry together.

    Parameters
    ----------
    skew
        What gives one instance most of its load, whatever their number; empty if nothing does.
    """
    if skew:
        return skew
    if fixed:
        return f"parallelism {most:,}"
    if most < MAX_PARALLELISM:
        partitioned = graph.partitions.get(v) == most
        return f"{most:,} partitions" if partitioned else f"max_parallelism {most:,}"
    return "scaling" if graph.scaling.get(v) else f"{most:,} instances"
