"""Profiles of running jobs: measured numbers, their graph, the placement, and CPU time in use."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamplace.errors import ProblemError
from streamplace.formats.profiling.estimates import Estimate
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class OperatorProfile:
    """Estimates of an operator: tuples/s over all instances, and costs per tuple."""

    name: str
    rate: Estimate
    instructions: Estimate
    payload_bytes: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        numbers = ("rate", "instructions", "payload_bytes")
        return {"name": self.name, **{name: getattr(self, name).to_dict() for name in numbers}}


@dataclass(frozen=True)
class StreamProfile:
    """Estimates of a stream: selectivity, and bytes per tuple."""

    source: str
    target: str
    selectivity: Estimate
    payload_bytes: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "source": self.source,
            "target": self.target,
            "selectivity": self.selectivity.to_dict(),
            "payload_bytes": self.payload_bytes.to_dict(),
        }


@dataclass(frozen=True)
class Profile:
    """Measured numbers of a job.

    Parameters
    ----------
    logical
        The graph with the measured numbers; all other numbers are unknown.
    source_rate
        Tuples/s over all sources.
    intervals, seconds
        Number of intervals between usable readings, and their total length, seconds.
    """

    logical: LogicalGraph
    source_rate: Estimate
    operators: Sequence[OperatorProfile]
    streams: Sequence[StreamProfile]
    intervals: int
    seconds: float

    @property
    def without_error(self) -> int:
        """The number of measured costs that have no standard error, and so count as exact."""
        costs = (
            *(cost for each in self.operators for cost in (each.instructions, each.payload_bytes)),
            *(stream.selectivity for stream in self.streams),
        )
        return sum(cost.known is not None and cost.error is None for cost in costs)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "intervals": self.intervals,
            "seconds": self.seconds,
            "source_rate": self.source_rate.to_dict(),
            "operators": [operator.to_dict() for operator in self.operators],
            "streams": [stream.to_dict() for stream in self.streams],
            "guessed": [list(ends) for ends in self.logical.guessed],
            "notes": list(self.logical.notes),
        }


def current_assignment(
    graph: StreamGraph, task_managers: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return instance -> the device that it runs on.

    Parameters
    ----------
    graph
        A graph of instances.
    task_managers
        Operator -> the TaskManager of each of its instances; TaskManagers are the devices.

    Raises
    ------
    ProblemError
        If the TaskManager of an instance is unknown.
    """
    counts = Counter(graph.owners)
    for operator, count in counts.items():
        if len(task_managers.get(operator, ())) != count:
            raise ProblemError(f"the TaskManager of operator {operator!r} is unknown")
    remaining = {operator: iter(task_managers[operator]) for operator in counts}
    pairs = zip(graph.names, graph.owners, strict=True)
    return {name: next(remaining[operator]) for name, operator in pairs}


def current_cluster(
    task_managers: Mapping[str, Sequence[str]], slots: Mapping[str, int], mips: float
) -> Cluster:
    """Return the cluster that a job runs on; see `current_placement`.

    Raises
    ------
    ClusterError
        If no TaskManager is known.
    """
    used = {name for names in task_managers.values() for name in names}
    devices = {**dict.fromkeys(sorted(used), 1), **slots}
    return Cluster([Device(name, mips, max(count, 1)) for name, count in devices.items()])


def current_placement(
    graph: StreamGraph,
    task_managers: Mapping[str, Sequence[str]],
    slots: Mapping[str, int],
    mips: float,
) -> Placement:
    """Return the placement of a running job: every instance is on its TaskManager.

    Parameters
    ----------
    graph, task_managers
        As for `current_assignment`.
    slots
        TaskManager -> the number of its slots; each counts as a core of `mips`.

    Raises
    ------
    ProblemError
        If numbers of the graph or the TaskManager of an instance are unknown.
    """
    cluster = current_cluster(task_managers, slots, mips)
    return Placement.of(Problem(graph, cluster), current_assignment(graph, task_managers))


@dataclass(frozen=True)
class Part:
    """The instances of a task on one host.

    Parameters
    ----------
    instances
        Their number.
    busy, tuples
        Their shares of the task's busy time and of its tuples.
    """

    instances: int
    busy: float
    tuples: float


@dataclass(frozen=True)
class Task:
    """An operator, or a chain of operators whose CPU time is measured together.

    Parameters
    ----------
    operators
        Their names in the job, upstream first.
    busy
        Busy time of all instances, in seconds per second, which is a number of cores.
    seconds_per_tuple
        Busy seconds per tuple that the first operator processes.
    parts
        Host -> the part of the task that it runs.
    """

    operators: tuple[str, ...]
    busy: Estimate
    seconds_per_tuple: Estimate
    parts: Mapping[str, Part]

    @property
    def name(self) -> str:
        """The operators' names."""
        return " -> ".join(self.operators)


@dataclass(frozen=True)
class JobUse:
    """What a running job used while it was watched.

    Parameters
    ----------
    profile
        Rates of its operators, selectivities, source rate; its instructions are those of a core of
        1 MIPS.
    hosts
        Operator -> the host of each of its instances.
    idle_hosts
        Hosts that run none of its tasks.
    labelled
        Device -> the host that has its label, for those that have one.
    notes
        Other facts, one line each, such as what has finished.
    """

    profile: Profile
    tasks: tuple[Task, ...]
    hosts: Mapping[str, tuple[str, ...]]
    idle_hosts: tuple[str, ...] = ()
    labelled: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @cached_property
    def busy_hosts(self) -> tuple[str, ...]:
        """The hosts that run its tasks."""
        return tuple(dict.fromkeys(host for task in self.tasks for host in task.parts))
