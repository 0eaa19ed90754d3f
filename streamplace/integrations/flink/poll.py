"""Observation of a running Flink job over REST: plan, TaskManagers, and counters every second."""

import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamplace.errors import BackendError, UsageError
from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.flink.cpu_times import cpu_times
from streamplace.integrations.flink.growth import TOO_FEW
from streamplace.integrations.flink.jobs import refusal
from streamplace.integrations.flink.metrics import (
    OPERATOR_METRICS,
    counters,
    metrics_of,
    operator_counters,
    queries,
    time_s,
)
from streamplace.integrations.flink.plan import RunningPlan, Vertex, running
from streamplace.integrations.flink.thread_dumps import Dump, ThreadDumps
from streamplace.integrations.profiling.counters import Counters, Reading
from streamplace.integrations.profiling.estimates import Estimate
from streamplace.integrations.profiling.pauses import jittered_pauses
from streamplace.integrations.profiling.rest import GoneError, RefusedError, Server
from streamplace.problem.logical import LogicalGraph

READING_INTERVAL_S = 1.0
FINAL = (400, 404)  # faults of a request that are the same when it is repeated
Subtasks = Mapping[str, Sequence[tuple[str, Counters]]]
"""Vertex id -> the TaskManager and the counters of each of its subtasks."""
NOWHERE = "(unassigned)"  # the TaskManager of a subtask that is not running


@dataclass
class Watched:
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
    fault
        The fault that ended the observation early; empty if there was none.
    interrupted
        Whether an interrupt ended the observation.
    """

    plan: RunningPlan
    subtasks: Subtasks = field(default_factory=dict)
    last: Subtasks = field(default_factory=dict)
    task_managers: dict[str, int] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    max_parallelism: dict[str, int] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    dumps: list[dict[str, Dump]] = field(default_factory=list)
    fault: str = ""
    interrupted: bool = False

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
        Mean seconds between readings (see `jittered_pauses`), and the pause before a request is
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
        self.server = server
        self.every_s = every_s
        self.id, self.job = job, f"/jobs/{urllib.parse.quote(job, safe='')}"
        self.timeout_s = timeout_s
        self.thread_dumps = thread_dumps
        self._pauses = jittered_pauses(seed)
        self._until = 0.0

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
        self._begin()
        watched = Watched(self._plan())
        check(watched.plan.logical)
        try:
            self._read_task_managers(watched)
            self._first_dumps(watched)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                self._dump(watched)
                began = self._begin()
                watched.readings.append(self._reading(watched))
                following = began + self.every_s * next(self._pauses)
                time.sleep(max(min(following, until) - time.monotonic(), 0.0))
            self._dump(watched, at_end=True)
        except BackendError as error:
            watched.fault = str(error)
        except KeyboardInterrupt:
            watched.interrupted = True
        if not watched.fault:
            with suppress(BackendError, KeyboardInterrupt):  # the readings suffice
                watched.last = self._subtasks(watched.plan)
        return watched

    def _plan(self) -> RunningPlan:
        path = f"{self.job}/plan"
        try:
            value = self._ask(path)
        except RefusedError as error:
            raise refusal(self.server, self.id, error, self.timeout_s) from None
        with expecting(self.server.url + path):
            plan = value["plan"] if isinstance(value, dict) else None
            return running(plan, self.server.url + path)

    def _subtasks(self, plan: RunningPlan) -> Subtasks:
        """Return the TaskManager and the counters of each subtask now."""
        self._begin()
        found = {}
        for vertex in plan.vertices:
            path = f"{self.job}/vertices/{urllib.parse.quote(vertex.id, safe='')}"
            value = self._ask(path)
            with expecting(self.server.url + path):
                subtasks = sorted(value["subtasks"], key=lambda task: int(task["subtask"]))
                found[vertex.id] = [
                    (str(task["taskmanager-id"]), counters(task.get("metrics") or {}))
                    for task in subtasks
                ]
        return found

    def _read_task_managers(self, watched: Watched) -> None:
        watched.subtasks = self._subtasks(watched.plan)
        value = self._ask("/taskmanagers")
        with expecting(f"{self.server.url}/taskmanagers"):
            watched.task_managers = {
                str(each["id"]): int(each["slotsNumber"]) for each in value["taskmanagers"]
            }

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

    def _reading(self, watched: Watched) -> Reading:
        plan, value = watched.plan, self._ask(self.job)
        with expecting(self.server.url + self.job):
            state = str(value["state"])
            if state != "RUNNING":
                raise GoneError(f"{self.server.url}: the job is {state}")
            values = {vertex["id"]: counters(vertex["metrics"]) for vertex in value["vertices"]}
            vertices = {v.id: values.get(v.id, Counters()) for v in plan.vertices}
            at_s = time_s(value["now"])
            watched.titles = {each["id"]: str(each.get("name", "")) for each in value["vertices"]}
            watched.max_parallelism = {
                vertex["id"]: int(vertex["maxParallelism"])
                for vertex in value["vertices"]
                if int(vertex.get("maxParallelism", -1)) > 0
            }
        operators: dict[str, Counters] = {}
        graph = plan.logical.graph
        sources = {graph.names[v] for v in graph.sources}
        for vertex in plan.vertices:
            names = metrics_of(vertex, sources)
            if names:
                operators.update(operator_counters(vertex, names, self._metrics(vertex, names)))
        return Reading(at_s, vertices, operators)

    def _metrics(self, vertex: Vertex, names: Mapping[str, str]) -> dict[str, float]:
        wanted = [
            f"{i}.{name}.{metric}"
            for name in names.values()
            for metric in OPERATOR_METRICS.values()
            for i in range(vertex.parallelism)
        ]
        found: dict[str, float] = {}
        path = f"{self.job}/vertices/{urllib.parse.quote(vertex.id, safe='')}/metrics?get="
        for query in queries(wanted):
            value = self._ask(path + query)
            with expecting(self.server.url + path):
                found |= {str(each["id"]): float(each["value"]) for each in value}
        return found

    def _begin(self) -> float:
        """Begin a step with its own time limit; return the time."""
        began = time.monotonic()
        self._until = began + self.timeout_s
        return began

    def _ask(self, path: str) -> Any:
        """Return the answer to a request, which is repeated after faults until the step times out.

        If all requests fail, the first fault is raised.
        """
        fault: BackendError | None = None
        while True:
            remaining_s = self._until - time.monotonic()
            try:
                return self.server.get(path, max(remaining_s, 0.0))
            except BackendError as error:
                if isinstance(error, RefusedError) and error.status in FINAL:
                    raise
                fault = fault or (error if remaining_s > 0 else self._late(path))
                if self._until - time.monotonic() <= self.every_s:
                    raise fault from None
                time.sleep(self.every_s)

    def _late(self, path: str) -> BackendError:
        """Return the fault of a request for which the requests before it have left no time."""
        endpoint = path.partition("?")[0]
        return BackendError(
            f"{self.server.url}: no answer to {endpoint} within {self.timeout_s:g} s, "
            "together with the requests before it; set a longer time limit if the server is slow"
        )


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
