"""Observation of a running Flink job over REST: plan, TaskManagers, and counters every second."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamplace.engines.flink.client import Client, call_repeatedly
from streamplace.engines.flink.cpu_times import Dump, ThreadDumps, cpu_times
from streamplace.engines.flink.documents import (
    JobState,
    counters,
    metrics_of,
    operator_counters,
)
from streamplace.engines.flink.plan import RunningPlan
from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.counters import (
    READING_INTERVAL_S,
    Counters,
    Observed,
    Reading,
    moments,
)
from streamplace.formats.profiling.estimates import TOO_FEW, Estimate
from streamplace.formats.profiling.rest import GoneError, RefusedError, Server
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted

Subtasks = Mapping[str, Sequence[tuple[str, Counters]]]
"""Vertex id -> the TaskManager and the counters of each of its subtasks."""
NOWHERE = "(unassigned)"  # the TaskManager of a subtask that is not running


@dataclass
class Watched(Observed):
    """Observations of a job.

    Parameters
    ----------
    subtasks, last
        Vertex id -> the TaskManager and the counters of each of its subtasks, at the beginning and
        at the end; `last` is empty if the observation ended early.
    task_managers
        TaskManager -> number of its slots; includes idle TaskManagers.
    max_parallelism
        Vertex id -> the largest parallelism that its state allows, where the server says so.
    titles
        Vertex id -> Flink's name of the vertex.
    dumps
        TaskManager -> its thread dump, one after another.
    ended
        Vertex id -> number of its instances that have finished; without those where none has.
    """

    plan: RunningPlan
    subtasks: Subtasks = field(default_factory=dict)
    last: Subtasks = field(default_factory=dict)
    task_managers: dict[str, int] = field(default_factory=dict)
    max_parallelism: dict[str, int] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    dumps: list[dict[str, Dump]] = field(default_factory=list)
    ended: dict[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Lines on what has finished, which adds no load."""
        return [
            f"finished: {several_of(self.ended[v.id], v.parallelism)} of {v.operators[0]!r}, which "
            "adds no load any more"
            for v in self.plan.vertices
            if v.id in self.ended
        ]

    @property
    def logical_limits(self) -> dict[str, int]:
        """Operator -> the largest parallelism of the vertex that runs it, where it is known."""
        return {
            name: self.max_parallelism[vertex.id]
            for vertex in self.plan.vertices
            for name in vertex.operators
            if vertex.id in self.max_parallelism
        }

    @property
    def hosts(self) -> dict[str, list[str]]:
        """Vertex id -> the TaskManager of each of its subtasks."""
        return {vertex: [host for host, _ in each] for vertex, each in self.subtasks.items()}


class Watch:
    """Observer of one job.

    Parameters
    ----------
    timeout_s
        Time limit in seconds of each step: the plan, the TaskManagers, each reading.
    every_s
        Mean seconds between readings (see `moments`), and the pause before a request is
        repeated.
    seed
        Seed of the pauses between readings.
    thread_dumps
        What prints thread dumps, if CPU times are to be measured.
    """

    def __init__(
        self,
        server: Server,
        job: str,
        timeout_s: float,
        every_s: float = READING_INTERVAL_S,
        seed: int = 0,
        thread_dumps: ThreadDumps | None = None,
    ) -> None:
        self.server, self.job, self.every_s, self.seed = server, job, every_s, seed
        self.client = StepClient(server, timeout_s, every_s)
        self.thread_dumps = thread_dumps

    def run(
        self, seconds: float, check: Callable[[LogicalGraph], object] = lambda logical: None
    ) -> Watched:
        """Watch the job; faults that occur once the plan is known are recorded in `fault`.

        An interrupt also ends the observation early and keeps the readings so far.

        Parameters
        ----------
        seconds
            Duration of the observation in seconds.
        check
            Called with the logical graph before the observation starts; may raise.

        Raises
        ------
        BackendError
            If the plan is not available.
        UsageError
            If the server has no such job, or the first thread dumps fail.
        """
        self.client.begin()
        watched = Watched(self.client.plan(self.job))
        check(watched.plan.logical)
        with watched.kept():
            self._read_task_managers(watched)
            self._first_dumps(watched)
            waits = ""
            for _ in moments(time.monotonic() + seconds, self.every_s, self.seed):
                self._dump(watched)
                self.client.begin()
                found = self.client.state(self.job)
                if waits := ", ".join(f"{name} is {how}" for name, how in found.waiting.items()):
                    continue  # its counters do not say what it needs
                watched.readings.append(self._reading(watched, found))
            self._dump(watched, at_end=True)
            if waits and not watched.readings:
                raise BackendError(f"{self.server.url}: the job does not run as a whole: {waits}")
        if not watched.fault:
            with suppress(BackendError, KeyboardInterrupt):  # the readings suffice
                watched.last = self._subtasks(watched.plan)
        return watched

    def _subtasks(self, plan: RunningPlan) -> Subtasks:
        """Return the TaskManager and the counters of each subtask now."""
        self.client.begin()
        return {
            vertex.id: [
                (each.host, each.counters) for each in self.client.subtasks(self.job, vertex)
            ]
            for vertex in plan.vertices
        }

    def _read_task_managers(self, watched: Watched) -> None:
        watched.subtasks = self._subtasks(watched.plan)
        watched.task_managers = self.client.slots()

    def _first_dumps(self, watched: Watched) -> None:
        try:
            self._dump(watched)
        except BackendError as error:
            raise UsageError(f"thread dumps: {error}") from None

    def _dump(self, watched: Watched, at_end: bool = False) -> None:
        """Take thread dumps of the job's TaskManagers if they are asked for and due."""
        if self.thread_dumps is not None:
            hosts = {host for each in watched.hosts.values() for host in each} - {NOWHERE}
            self.thread_dumps.add(watched.dumps, hosts, at_end=at_end)

    def _reading(self, watched: Watched, found: JobState) -> Reading:
        plan = watched.plan
        if found.state != "RUNNING":
            raise GoneError(f"{self.server.url}: the job is {found.state}")
        rows = found.vertices.values()
        watched.ended = {each.id: each.finished for each in rows if each.finished}
        watched.titles = {each.id: each.title for each in rows}
        watched.max_parallelism = {v.id: v.max_parallelism for v in rows if v.max_parallelism > 0}
        values = {each.id: counters(each.metrics) for each in rows}
        operators: dict[str, Counters] = {}
        for vertex in plan.vertices:
            if names := metrics_of(vertex, plan.sources):
                metrics = self.client.metrics(self.job, vertex, names)
                operators.update(operator_counters(vertex, names, metrics))
        return Reading(
            found.at_s, {v.id: values.get(v.id, Counters()) for v in plan.vertices}, operators
        )


class StepClient(Client):
    """A client whose requests are repeated after faults until the time of a step is over.

    Parameters
    ----------
    within_s
        Time limit in seconds of each step, which may have several requests.
    every_s
        Pause in seconds before a request is repeated.
    """

    def __init__(self, server: Server, within_s: float, every_s: float) -> None:
        super().__init__(server, within_s)
        self.every_s, self._until = every_s, 0.0

    def begin(self) -> None:
        """Begin a step with its own time limit."""
        self._until = time.monotonic() + self.within_s

    def get(self, path: str) -> Any:
        """Return the JSON value at a path; see `call_repeatedly`."""
        return call_repeatedly(lambda: self._once(path), self._until, self.every_s)

    def _once(self, path: str) -> Any:
        remaining_s = self._until - time.monotonic()
        try:
            return self.server.get(path, max(remaining_s, 0.0))
        except RefusedError:
            raise
        except BackendError:
            if remaining_s > 0:
                raise
        raise BackendError(  # the requests before it have left no time
            f"{self.server.url}: no answer to {path.partition('?')[0]} within "
            f"{self.within_s:g} s, together with the requests before it; set a longer time limit "
            "if the server is slow"
        )


def several_of(count: int, whole: int) -> str:
    """Return a number of instances in words, such as ``1 of 4 instances``."""
    if count < whole:
        return f"{count:,} of {counted(whole, 'instance')}"
    return "the only instance" if whole == 1 else f"all {whole:,} instances"


def cpu_times_of(watched: Watched) -> dict[str, Estimate]:
    """Return vertex id -> the CPU seconds per second of its subtasks, by thread dumps."""
    return {
        vertex: cpu_times(watched.titles[vertex], hosts, watched.dumps)
        if vertex in watched.titles
        else Estimate.missing(TOO_FEW)
        for vertex, hosts in watched.hosts.items()
    }


def task_managers_of(watched: Watched) -> dict[str, list[str]]:
    """Return operator -> TaskManagers of its instances, for operators whose instances all run."""
    return {
        operator: watched.hosts[vertex.id]
        for vertex in watched.plan.vertices
        if vertex.id in watched.hosts and NOWHERE not in watched.hosts[vertex.id]
        for operator in vertex.operators
    }
