"""Samples of a job's counters at one moment, over REST."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, isnan
from typing import Any

from streamplace.control.interfaces import Clock, LostError
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.documents import (
    TASK,
    Job,
    JobState,
    Subtask,
    metrics_of,
    operator_counters,
)
from streamplace.engines.flink.plan import RunningPlan
from streamplace.engines.flink.states import FINISHED
from streamplace.errors import BackendError
from streamplace.formats.profiling.counters import Counters, Reading, total
from streamplace.formats.profiling.rest import GoneError

HIGHLY_AVAILABLE = ("high-availability.type", "high-availability")
OF_KUBERNETES = ("kubernetes.", "$internal.kubernetes.")
OFF = ("", "none")
FETCH_S = 10.0  # Flink fetches metrics when asked, but not more often
PAUSE_S = 1.0
PENDING = "pendingRecords"
TIMES = ("busy_ms", "idle_ms", "backpressured_ms")


def refusals(job: Job, config: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[str]:
    """Yield why no action is allowed on a job, one line each.

    Parameters
    ----------
    config
        The configuration of the JobManager.
    counts
        Operator -> number of its instances, as planned.
    """
    yield from _others(config)
    now = {name: v.parallelism for name, v in job.vertex_of.items()}
    changed = sorted(name for name, count in counts.items() if now.get(name, count) != count)
    if changed and job.max_parallelism is None and not job.is_adaptive:
        yield (
            f"the job sets no maximum parallelism, so the state of {changed[0]} may not fit other "
            "numbers of instances; set pipeline.max-parallelism"
        )


def _others(config: Mapping[str, str]) -> Iterator[str]:
    """Yield who else may restart the job, so that two of it would run."""
    for key in HIGHLY_AVAILABLE:
        if (value := config.get(key, "").lower()) not in OFF:
            yield f"{key} is {value}: Flink's JobManagers restart the job, too; only advice is safe"
    if found := [key for key in config if key.startswith(OF_KUBERNETES)]:
        yield f"Kubernetes manages this cluster ({found[0]}), and may restart the job, too"


@dataclass(frozen=True)
class Sample:
    """Counters of a job at one moment.

    Parameters
    ----------
    at_s
        Time by the server's clock, in seconds since 1970.
    job
        The job's document, read a moment later.
    subtasks
        Vertex id -> its instances in order.
    operators
        Operator -> its own counters, for sources and members of chains.
    waiting
        Source -> tuples that wait there; without sources that do not say so.
    """

    at_s: float
    job: JobState
    subtasks: Mapping[str, tuple[Subtask, ...]]
    operators: Mapping[str, Counters] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def plan(self) -> RunningPlan:
        """The operators of the job, and the vertices that run them."""
        return self.job.plan

    @cached_property
    def reading(self) -> Reading:
        """The sums over all instances."""
        rows = {
            vertex: total([each.counters for each in row]) for vertex, row in self.subtasks.items()
        }
        return Reading(self.at_s, rows, self.operators)


class Sampler:
    """Samples of jobs."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self.client, self.clock = client, clock

    def fresh(self, job: str, pause_s: float = PAUSE_S) -> Sample:
        """Return a sample whose metrics are new, or the last one after the time of a fetch.

        Flink fetches metrics when it is asked for them and answers with those of before, so the
        job is asked until they change. The sample is dated to the request before.

        Parameters
        ----------
        pause_s
            Seconds between requests, to which the sample's date is right.

        Raises
        ------
        LostError
            If the job has ended.
        BackendError
            If the server does not answer.
        """
        first = before = found = self._state(job)
        asked_s = 0.0
        while asked_s <= FETCH_S + pause_s:
            self.clock.sleep(pause_s)
            asked_s += pause_s
            found = self._state(job)
            if _newer(found, first):
                break
            before = found
        return self._sample(found, before.at_s)

    def now_s(self, job: str) -> float:
        """Return the server's time; also where the job has ended.

        Raises
        ------
        BackendError
            If the server does not answer, or does not know the job.
        """
        found = self.client.state(job)
        if isnan(found.at_s):
            raise BackendError(f"{self.client.server.url}: job {job} without the time `now`")
        return found.at_s

    def _state(self, job: str) -> JobState:
        try:
            found = self.client.state(job)
        except GoneError:
            server = self.client.server
            lost = f"the job {job}" if server.asked else f"the job {job} any more"
            raise LostError(
                f"{server.url} does not know {lost}; see /jobs/overview{server.asked}"
            ) from None
        if found.ended:
            raise LostError(
                f"job {job} is {found.state}, and this controller did not stop it; if another one "
                "started it anew, watch that job"
            )
        if isnan(found.at_s) or isnan(found.started_s):
            raise BackendError(f"{self.client.server.url}: job {job} without its times")
        return found

    def _sample(self, job: JobState, at_s: float) -> Sample:
        plan = job.plan
        subtasks: dict[str, tuple[Subtask, ...]] = {}
        operators: dict[str, Counters] = {}
        waiting: dict[str, float] = {}
        for vertex in plan.vertices:
            subtasks[vertex.id] = self.client.subtasks(job.id, vertex)
            if names := metrics_of(vertex, plan.sources):
                found = self.client.metrics(job.id, vertex, names, PENDING)
                operators |= operator_counters(vertex, names, found)
                for name in plan.sources & names.keys():
                    of = [f"{i}.{names[name]}.{PENDING}" for i in range(vertex.parallelism)]
                    if all(found.get(each, -1.0) >= 0 for each in of):
                        waiting[name] = sum(found[each] for each in of)
        return Sample(at_s, job, subtasks, operators, waiting)


def _newer(now: JobState, then: JobState) -> bool:
    """Return whether the times of every vertex differ; they grow even if no tuple comes.

    Vertices without busy times count only where no vertex has them; their other times may stand
    still.
    """
    times, former = _times(now), _times(then)  # those of what has finished stand still
    timed = [vertex for vertex, (busy_ms, *_) in times.items() if _is_time(busy_ms)]
    return all(former.get(vertex) != times[vertex] for vertex in timed or times)


def _times(job: JobState) -> dict[str, tuple[Any, ...]]:
    rows = [row for row in job.vertices.values() if row.status != FINISHED]
    return {row.id: tuple(row.metrics.get(TASK[name]) for name in TIMES) for row in rows}


def _is_time(value: Any) -> bool:
    """Return whether a value is a number, and not NaN, which Flink writes as text."""
    return isinstance(value, int | float) and isfinite(value)
