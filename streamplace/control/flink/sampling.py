"""Samples of a job's counters at one moment, over REST."""

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from streamplace.control.flink.clock import Clock
from streamplace.errors import BackendError
from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.flink.applying.documents import ENDED, job_path
from streamplace.integrations.flink.metrics import (
    OPERATOR_METRICS,
    TASK,
    counters,
    metrics_of,
    operator_counters,
    queries,
    time_s,
)
from streamplace.integrations.flink.plan import RunningPlan, Vertex, running
from streamplace.integrations.profiling.counters import Counters
from streamplace.integrations.profiling.rest import GoneError, Server

FETCH_S = 10.0  # Flink fetches metrics when asked, but not more often
PAUSE_S = 1.0
PENDING = "pendingRecords"
TIMES = ("busy_ms", "idle_ms", "backpressured_ms")


class LostError(BackendError):
    """The job has ended, or the server does not know it: it failed, or was stopped from outside."""


@dataclass(frozen=True)
class Subtask:
    """An instance of a vertex: its TaskManager, its state, and its counters."""

    host: str
    status: str
    counters: Counters


@dataclass(frozen=True)
class Sample:
    """Counters of a job at one moment.

    Parameters
    ----------
    at_s
        Time by the server's clock, in seconds since 1970.
    started_s
        When the job, or its last recovery, began to run, by the same clock.
    subtasks
        Vertex id -> its instances in order.
    operators
        Operator -> its own counters, for sources and members of chains.
    waiting
        Source -> tuples that wait there; without sources that do not say so.
    asked_s
        The server's time of the last answer about the job.
    """

    at_s: float
    state: str
    started_s: float
    plan: RunningPlan
    subtasks: Mapping[str, tuple[Subtask, ...]]
    operators: Mapping[str, Counters] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)
    asked_s: float = 0.0

    @property
    def runs(self) -> bool:
        """Whether every instance runs."""
        return self.state == "RUNNING" and all(
            each.status == "RUNNING" for row in self.subtasks.values() for each in row
        )

    @property
    def sources(self) -> frozenset[str]:
        """Names of the sources."""
        graph = self.plan.logical.graph
        return frozenset(graph.names[v] for v in graph.sources)


@dataclass(frozen=True)
class _Details:
    """The document of a job, whose metrics show when Flink has fetched new ones."""

    at_s: float
    state: str
    started_s: float
    plan: RunningPlan
    times: Mapping[str, tuple[Any, ...]]

    def newer(self, other: "_Details") -> bool:
        """Return whether the times of every vertex differ; they grow even if no tuple comes.

        Vertices without busy times count only where no vertex has them; their other times may
        stand still.
        """
        timed = [vertex for vertex, (busy_ms, *_) in self.times.items() if _is_time(busy_ms)]
        return all(other.times.get(vertex) != self.times[vertex] for vertex in timed or self.times)


class Sampler:
    """Samples of one job.

    Parameters
    ----------
    answer_s
        Time limit of an answer in seconds.
    """

    def __init__(self, server: Server, answer_s: float, clock: Clock) -> None:
        self.server, self.answer_s, self.clock = server, answer_s, clock

    def fresh(self, job: str) -> Sample:
        """Return a sample whose metrics are new, or the last one after the time of a fetch.

        Flink fetches metrics when it is asked for them and answers with those of before, so the
        job is asked until they change. The sample is dated to the request before.

        Raises
        ------
        LostError
            If the job has ended.
        BackendError
            If the server does not answer.
        """
        first = before = found = self._details(job)
        asked_s = 0.0
        while asked_s <= FETCH_S + PAUSE_S:
            self.clock.sleep(PAUSE_S)
            asked_s += PAUSE_S
            found = self._details(job)
            if found.newer(first):
                break
            before = found
        return self._sample(job, found, before.at_s)

    def now_s(self, job: str) -> float:
        """Return the server's time; also where the job has ended.

        Raises
        ------
        BackendError
            If the server does not answer, or does not know the job.
        """
        path = job_path(job)
        value = self.server.get(path, self.answer_s)
        with expecting(self.server.url + path):
            return time_s(value["now"])

    def _details(self, job: str) -> _Details:
        path = job_path(job)
        try:
            value = self.server.get(path, self.answer_s)
        except GoneError:
            raise LostError(
                f"{self.server.url} does not know the job {job} any more; see /jobs/overview"
            ) from None
        with expecting(self.server.url + path):
            state, plan = str(value["state"]), running(value["plan"], "plan")
            begun = [value["timestamps"]["RUNNING"]]
            begun += [each["start-time"] for each in value["vertices"]]
            at_s, started_s = time_s(value["now"]), max(map(float, begun)) / 1e3
            metrics = {str(each["id"]): each["metrics"] for each in value["vertices"]}
            times = {
                vertex: tuple(each.get(TASK[name]) for name in TIMES)
                for vertex, each in metrics.items()
            }
        if state in ENDED:
            raise LostError(
                f"job {job} is {state}, and this controller did not stop it; if another one "
                "started it anew, watch that job"
            )
        return _Details(at_s, state, started_s, plan, times)

    def _sample(self, job: str, details: _Details, at_s: float) -> Sample:
        path, plan = job_path(job), details.plan
        sources = {plan.logical.graph.names[v] for v in plan.logical.graph.sources}
        subtasks: dict[str, tuple[Subtask, ...]] = {}
        operators: dict[str, Counters] = {}
        waiting: dict[str, float] = {}
        for vertex in plan.vertices:
            subtasks[vertex.id] = self._subtasks(path, vertex)
            names = metrics_of(vertex, sources)
            if names:
                found = self._metrics(path, vertex, names)
                operators |= operator_counters(vertex, names, found)
                for name in sources & names.keys():
                    rows = [found.get(f"{i}.{names[name]}.{PENDING}") for i in _indices(vertex)]
                    numbers = [row for row in rows if row is not None]
                    if len(numbers) == len(rows):
                        waiting[name] = sum(numbers)
        known = (at_s, details.state, details.started_s, plan, subtasks, operators, waiting)
        return Sample(*known, details.at_s)

    def _subtasks(self, path: str, vertex: Vertex) -> tuple[Subtask, ...]:
        value = self._vertex(path, vertex, "")
        with expecting(self.server.url + path):
            rows = sorted(value["subtasks"], key=lambda row: int(row["subtask"]))
            return tuple(
                Subtask(
                    str(row["taskmanager-id"]),
                    str(row["status"]),
                    counters(row.get("metrics") or {}),
                )
                for row in rows
            )

    def _metrics(self, path: str, vertex: Vertex, names: Mapping[str, str]) -> dict[str, float]:
        wanted = [
            f"{i}.{name}.{metric}"
            for name in names.values()
            for metric in (*OPERATOR_METRICS.values(), PENDING)
            for i in _indices(vertex)
        ]
        found: dict[str, float] = {}
        for query in queries(wanted):
            value = self._vertex(path, vertex, f"/metrics?get={query}")
            with expecting(self.server.url + path):
                found |= {str(each["id"]): float(each["value"]) for each in value}
        return {name: number for name, number in found.items() if number >= 0}

    def _vertex(self, path: str, vertex: Vertex, more: str) -> Any:
        where = f"{path}/vertices/{urllib.parse.quote(vertex.id, safe='')}{more}"
        return self.server.get(where, self.answer_s)


def _is_time(value: Any) -> bool:
    """Return whether a value is a number, and not NaN, which Flink writes as text."""
    return isinstance(value, int | float) and isfinite(value)


def _indices(vertex: Vertex) -> range:
    return range(vertex.parallelism)
