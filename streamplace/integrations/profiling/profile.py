"""What was measured of a running job, and the graph and placement that follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamplace.errors import ProblemError
from streamplace.integrations.profiling.estimates import Estimate
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph, instance_names
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class OperatorProfile:
    """An operator: tuples/s it processes over all instances, and what one costs and weighs."""

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
    """A stream: tuples on it per tuple that its source processes, and what one weighs."""

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
    """Numbers of a job.

    Parameters
    ----------
    job
        With those that were measured; the others are unknown.
    source_rate
        Tuples/s over all sources.
    intervals, seconds
        How often the counters moved, and in what time.
    """

    job: LogicalGraph
    source_rate: Estimate
    operators: Sequence[OperatorProfile]
    streams: Sequence[StreamProfile]
    intervals: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "intervals": self.intervals,
            "seconds": self.seconds,
            "source_rate": self.source_rate.to_dict(),
            "operators": [operator.to_dict() for operator in self.operators],
            "streams": [stream.to_dict() for stream in self.streams],
            "guessed": [list(ends) for ends in self.job.guessed],
            "notes": list(self.job.notes),
        }


def assignment_now(job: LogicalGraph, hosts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return instance -> its device.

    Parameters
    ----------
    hosts
        Operator -> the device of each instance.

    Raises
    ------
    ProblemError
        If it is not known where an instance runs.
    """
    assignment: dict[str, str] = {}
    for operator in job.graph.names:
        count = job.parallelism.get(operator, 1)
        there = hosts.get(operator, ())
        if len(there) != count:
            raise ProblemError(f"it is not known where {operator!r} runs")
        assignment.update(zip(instance_names(operator, count), there, strict=True))
    return assignment


def placement_now(
    job: LogicalGraph, hosts: Mapping[str, Sequence[str]], slots: Mapping[str, int], mips: float
) -> Placement:
    """Return what runs where: every instance on the device that is its TaskManager.

    Parameters
    ----------
    hosts
        As for `assignment_now`.
    slots
        Device -> its slots; each counts as a core of `mips`.

    Raises
    ------
    ProblemError
        If numbers of the job are unknown, or it is not known where an instance runs.
    """
    graph = to_instances(job)
    found = {host for names in hosts.values() for host in names}
    devices = {**dict.fromkeys(sorted(found), 1), **slots}
    cluster = Cluster([Device(name, mips, max(count, 1)) for name, count in devices.items()])
    return Placement.of(Problem(graph, cluster), assignment_now(job, hosts))
