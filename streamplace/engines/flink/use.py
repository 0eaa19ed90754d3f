"""The CPU time that a running Flink job uses, read over REST while it is watched."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from streamplace.engines.flink.applying.preflight import hosts_of
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import FlinkCluster
from streamplace.engines.flink.fit import MS_PER_S, fit, seconds_per_tuple
from streamplace.engines.flink.groups import groups_of
from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.poll import Watch, Watched, task_managers_of
from streamplace.errors import BackendError, ProblemError
from streamplace.formats.profiling.counters import usable_readings
from streamplace.formats.profiling.profile import JobUse, Part, Task
from streamplace.formats.profiling.rest import Server
from streamplace.formats.profiling.shares import Row, grown, tuples_grown
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement


@dataclass(frozen=True)
class Observed:
    """A job's use of CPU time, and what ended the observation early.

    Parameters
    ----------
    fault
        The fault that ended it; empty if there was none.
    interrupted
        Whether an interrupt ended it.
    """

    use: JobUse
    fault: str = ""
    interrupted: bool = False


def observe(
    placement: Placement,
    server: Server,
    job: str,
    *,
    seconds: float,
    timeout_s: float,
    seed: int = 0,
    check: Callable[[LogicalGraph], object] = lambda logical: None,
) -> Observed:
    """Watch a job; faults that occur once its plan is known end the observation early.

    Parameters
    ----------
    placement
        A placement for whose devices TaskManagers may have labels.
    seconds, timeout_s, seed, check
        See `Watch`.

    Raises
    ------
    BackendError
        If the plan is not available.
    """
    watched = Watch(server, job, timeout_s, seed=seed).run(seconds, check)
    labelled = dict[str, str]()
    if not watched.fault:
        with suppress(BackendError):
            labelled = labelled_hosts(placement, server, timeout_s)
    return Observed(use_of(watched, labelled), watched.fault, watched.interrupted)


def use_of(watched: Watched, labelled: Mapping[str, str]) -> JobUse:
    """Return a job's use of CPU time, from what was read while it was watched.

    Parameters
    ----------
    labelled
        Device -> the TaskManager with its label.
    """
    last = watched.last or watched.subtasks
    growth = Growth(watched.plan, usable_readings(watched.readings))
    tasks = [
        Task(
            vertex.operators,
            growth.per_second(growth.vertex_counter(vertex, "busy_ms")).times(1 / MS_PER_S),
            seconds_per_tuple(growth, vertex),
            parts(watched.subtasks.get(vertex.id, ()), last.get(vertex.id, ())),
        )
        for vertex in watched.plan.vertices
    ]
    hosts = {name: tuple(on) for name, on in task_managers_of(watched).items()}
    busy = {host for each in watched.hosts.values() for host in each}
    idle = tuple(host for host in watched.task_managers if host not in busy)
    profile = fit(watched.plan, watched.readings, 1.0)
    return JobUse(profile, tuple(tasks), hosts, idle, labelled, watched.notes)


def parts(first: Row, last: Row) -> dict[str, Part]:
    """Return TaskManager -> its part of a vertex, from the subtasks at the beginning and the end.

    Subtasks count equally if some of their counters are missing or did not grow.
    """
    if [host for host, _ in first] != [host for host, _ in last]:
        first = last
    busy = _shares(grown(first, last, "busy_ms"), len(last))
    tuples = _shares(tuples_grown(first, last), len(last))
    found: dict[str, Part] = {}
    for (host, _), time, count in zip(last, busy, tuples, strict=True):
        before = found.get(host, Part(0, 0.0, 0.0))
        found[host] = Part(before.instances + 1, before.busy + time, before.tuples + count)
    return found


def _shares(growth: Sequence[float], count: int) -> list[float]:
    return [each / sum(growth) for each in growth] or [1 / max(count, 1)] * count


def labelled_hosts(placement: Placement, server: Server, within_s: float) -> dict[str, str]:
    """Return device -> the TaskManager that has its label.

    Raises
    ------
    BackendError
        If the server does not answer.
    """
    try:
        groups = groups_of(placement, labels=True)
    except ProblemError:  # names or sinks that labels cannot express
        return {}
    cluster = FlinkCluster({}, Client(server, within_s).task_managers())
    return {device: host.id for device, host in hosts_of(groups, cluster).items()}
