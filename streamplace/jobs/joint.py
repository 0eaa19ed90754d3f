"""Several jobs on one cluster: as one graph, and their shares under joint placements.

In the one graph, constraints and limits of devices hold for all jobs together. Operators are called
``job/operator``. Loads of devices and links are those of the single graphs; a graph whose operators
take a tuple from each input becomes one in which flows add up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import within
from streamplace.jobs.jobs import Jobs
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.objective import MIN_VALUE
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import check_loads
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import resource_loads
from streamplace.sim.filling import CAPPED, fill
from streamplace.util.arrays import Bools, Floats, Ints

MAX_NUMBERS = 4_000_000  # loads in memory at once
DECIMALS = 9  # of shares that count in comparisons; smaller differences are rounding errors


def union_graph(jobs: Jobs, rates: Sequence[float], *, stated: bool = False) -> StreamGraph:
    """Return the graph of all jobs at source rates in tuples/s, with the constraints of all.

    The graph is in the order of the jobs. If its jobs share messages in different ways (multicast),
    each stream has its own messages.

    Parameters
    ----------
    stated
        Keep operators with several instances, which state their numbers.

    Raises
    ------
    GraphError
        If the rates do not fit the jobs.
    """
    operators, streams, offered = list[Operator](), list[Stream](), dict[str, float]()
    for job, rate in zip(jobs, rates, strict=True):
        own = job.stated.graph if stated else job.graph
        graph, prefix = _with_adding_flows(own), f"{job.name}/"
        operators += [_renamed(operator, prefix) for operator in graph.operators]
        streams += [
            replace(s, source=prefix + s.source, target=prefix + s.target) for s in graph.streams
        ]
        joins = own.firing == "all"  # each source then has the whole rate
        for v in graph.sources.tolist():
            offered[prefix + graph.names[v]] = rate * (
                1.0 if joins else float(graph.source_share[v])
            )
    total = sum(offered.values())
    union = StreamGraph(
        operators,
        streams,
        name=" + ".join(jobs.names),
        source_rate=max(total, MIN_VALUE),
        source_shares={name: rate / total for name, rate in offered.items()} if total else None,
        constraints=_constraints(jobs, stated=stated),
        multicast=shared_multicast(jobs) or "none",
    )
    union.stated_cores = frozenset(
        f"{job.name}/{operator}" for job in jobs for operator in job.graph.stated_cores
    )
    return union


def shared_multicast(jobs: Jobs) -> Multicast | None:
    """Return how the streams of all jobs share messages; None if the jobs differ."""
    kinds = {job.graph.multicast for job in jobs}
    return kinds.pop() if len(kinds) == 1 else None


def _renamed(operator: Operator, prefix: str) -> Operator:
    owner = prefix + operator.instance_of if operator.instance_of else ""
    return replace(operator, name=prefix + operator.name, instance_of=owner)


def _with_adding_flows(graph: StreamGraph) -> StreamGraph:
    """Return a graph with the same loads whose flows add up at joins.

    An operator with n inputs then processes n tuples for each one that it emits, so each takes 1/n
    of its instructions or time, and there is 1/n of a tuple on each of its streams.
    """
    if graph.firing != "all":
        return graph
    inputs = Counter(stream.target for stream in graph.streams)
    operators = [_divided(operator, inputs[operator.name] or 1) for operator in graph.operators]
    streams = [
        replace(s, selectivity=1.0 / (inputs[s.source] or 1), selectivity_se=0.0)
        for s in graph.streams
    ]
    return StreamGraph(operators, streams, constraints=graph.constraints)


def _divided(operator: Operator, parts: int) -> Operator:
    seconds = {
        kind: None if time is None else time / parts for kind, time in operator.seconds_on.items()
    }
    return replace(
        operator,
        instructions=operator.instructions / parts,
        instructions_se=operator.instructions_se / parts,
        seconds_on=seconds,
    )


def _constraints(jobs: Jobs, *, stated: bool) -> Constraints:
    """Return the constraints of all jobs, by the names of the union."""
    each: dict[str, Constraints] = {}
    for job in jobs:
        graph, rules = job.stated if stated else (job.graph, job.constraints)
        each[job.name] = graph.constraints if rules is None else Constraints.of(rules)
    return _merged(each).stated_as(_merged({name: rules.stated for name, rules in each.items()}))


def _merged(each: Mapping[str, Constraints]) -> Constraints:
    """Return the constraints of jobs, by the names of the union, from those by job."""
    merged: dict[str, Any] = {}
    for job, rules in each.items():
        for field in fields(rules):
            value = getattr(rules, field.name)
            if isinstance(value, Mapping):
                more = {f"{job}/{name}": devices for name, devices in value.items()}
                merged[field.name] = merged.get(field.name, {}) | more
            else:
                groups = [[f"{job}/{name}" for name in group] for group in value]
                merged[field.name] = [*merged.get(field.name, []), *groups]
    return Constraints(**merged)


@dataclass(frozen=True)
class Allocation:
    """What J jobs get under one placement, as shares of their source rates.

    Parameters
    ----------
    shares
        (J,) relative throughput of each job.
    reserved
        (J,) the part of each minimum that holds, also as a share of the source rate.
    limits
        (J,) what keeps each job from more: the index of a device, D + the index of a link, or
        `CAPPED` if it is the job itself, with all of its source rate or with one busy operator.
    loads
        (J, D + L) loads of devices and links by each job at its full source rate, relative to the
        usable capacity.
    caps
        (J,) the largest share that each job could have if it were alone on these devices.
    """

    shares: Floats
    reserved: Floats
    limits: Ints
    loads: Floats
    caps: Floats


class JointProblem:
    """The problem of placing J jobs on one cluster together.

    A joint placement has a device for each operator of all jobs, in the order of the jobs. Its
    shares follow from progressive filling (`streamplace.sim.filling`), under the loads of
    ``bottleneck``.

    Parameters
    ----------
    target_utilisation
        Share of each device and link that may be used; None stands for 1.

    Attributes
    ----------
    problems
        The problem of each job alone.
    union
        The problem of the union of all jobs, at their source rates. Its constraints are those of
        joint placements; its throughput is not theirs, since it throttles all jobs alike.

    Raises
    ------
    ProblemError, InfeasibleError, GraphError
        If a job, or all jobs together, do not fit the cluster.
    """

    def __init__(
        self, jobs: Jobs, cluster: Cluster, target_utilisation: float | None = None
    ) -> None:
        self.jobs, self.cluster = jobs, cluster
        self.problems = jobs.problems(cluster, target_utilisation)
        for j, problem in enumerate(self.problems):
            with within(f"jobs[{j}] ({jobs[j].name!r})"):
                check_loads(problem)
        offered = [job.offered for job in jobs]
        graph = union_graph(jobs, offered)
        self.union = Problem(graph, cluster, target_utilisation=target_utilisation)
        sizes = [len(problem.graph.names) for problem in self.problems]
        ends = np.cumsum([0, *sizes]).tolist()
        self.columns = [slice(*ends[j : j + 2]) for j in range(len(jobs))]
        self.least = np.array([job.min_throughput / job.offered for job in jobs])
        self.classes = np.zeros(len(jobs), dtype=np.int32)
        for c, members in enumerate(jobs.by_priority):
            self.classes[members] = c
        self.weights = np.array([job.weight for job in jobs])

    @cached_property
    def links(self) -> int:
        """The number of links, L."""
        return len(flow(self.problems[0]).gap_s)

    def allocation(self, devices: Ints, present: Bools | None = None) -> Allocation:
        """Return what each job gets under a joint placement, (V,).

        Parameters
        ----------
        present
            (J,) whether each job runs; the others load nothing. None: all do.
        """
        loads, caps = self._loads(devices[None, :])
        if present is not None:
            loads = loads * present[None, :, None]
            caps = caps * present
        shares, reserved, limits = self._filled(loads, caps)
        return Allocation(shares[0], reserved[0], limits[0], loads[0], caps[0])

    def worth(self, placements: NDArray[np.integer]) -> Floats:
        """Return the vectors by which K joint placements compare, (K, N); larger is better.

        Entries count in lexicographic order. The first are the parts of the minimum throughputs
        that hold, by priority and within a priority from the smallest. The shares divided by
        weights follow in the same order. The last entry, by which equal placements compare, is the
        negative sum of squared loads at the full source rates.

        Placements that agree with the first one on a job take its loads over, so this is fastest
        for placements that differ little.
        """
        size = len(self.jobs) * (len(self.cluster.devices) + self.links)
        step = max(1, MAX_NUMBERS // size)
        first, parts = placements[:1], []
        for begin in range(0, len(placements), step):
            rows = np.concatenate([first, placements[begin : begin + step]])
            parts.append(self._worth(rows)[1:])
        return np.concatenate(parts)

    def _worth(self, placements: NDArray[np.integer]) -> Floats:
        loads, caps = self._loads(placements)
        together = loads.sum(axis=1)
        balance = -np.square(together).sum(axis=1, keepdims=True)
        can_fill = together.max(axis=0) > 1.0  # shares are at most 1
        shares, reserved, _ = self._filled(np.ascontiguousarray(loads[:, :, can_fill]), caps)
        return np.concatenate([self._entries(shares, reserved), balance], axis=1)

    def carries_all(self, worth: Floats) -> bool:
        """Return whether a placement with a vector of `worth` carries all that is offered."""
        return bool((worth[:-1] >= self._ideal).all())

    @cached_property
    def _ideal(self) -> Floats:
        """The vector, without its last entry, of a placement that carries all that is offered."""
        ideal: Floats = self._entries(np.ones((1, len(self.jobs))), self.least[None, :])[0]
        return ideal

    def _entries(self, shares: Floats, reserved: Floats) -> Floats:
        """Return the vectors of `worth` from shares and parts of minimums, (K, J), without loads.

        Weights are relative to the largest of a priority, so that rounding keeps their digits.
        """
        entries = []
        for numbers, units in ((reserved, self.least), (shares, self.weights)):
            for members in self.jobs.by_priority:
                used = [j for j in members if units[j] > 0]
                if used:
                    scale = units[used].max() if units is self.weights else 1.0
                    entries.append(np.sort(numbers[:, used] / units[used] * scale, axis=1))
        rounded: Floats = np.round(np.concatenate(entries, axis=1), DECIMALS)
        return rounded

    def _loads(self, placements: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return loads, (K, J, D + L), and the largest shares of jobs alone, (K, J)."""
        width = len(self.cluster.devices) + self.links
        loads = np.empty((len(placements), len(self.jobs), width))
        caps = np.empty(loads.shape[:2])
        for j, (problem, column) in enumerate(zip(self.problems, self.columns, strict=True)):
            rows = placements[:, column]
            differs = (rows != rows[0]).any(axis=1)
            differs[0] = True
            changed, own = resource_loads(flow(problem), rows[differs])
            loads[:, j], caps[:, j] = changed[0], own[0]
            loads[differs, j], caps[differs, j] = changed, own
        return loads, 1.0 / np.maximum(caps, 1.0)

    def _filled(self, loads: Floats, caps: Floats) -> tuple[Floats, Floats, Ints]:
        """Return shares, reserved parts of minimums and limits, (K, J) each; see `fill`."""
        shares, reserved = np.empty(caps.shape), np.empty(caps.shape)
        limits = np.full(caps.shape, CAPPED, dtype=np.int32)
        fill(loads, caps, self.least, self.weights, self.classes, reserved, shares, limits)
        return shares, reserved, limits
