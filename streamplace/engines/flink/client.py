"""The client of Flink's REST interface, which reads all documents of jobs and clusters."""

import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from streamplace.engines.flink import cluster, documents
from streamplace.engines.flink.cluster import FlinkCluster, TaskManager, scheduler_in
from streamplace.engines.flink.documents import (
    OPERATOR_METRICS,
    Job,
    JobState,
    Subtask,
    expecting,
    queries,
)
from streamplace.engines.flink.plan import RunningPlan, Vertex, running
from streamplace.errors import (
    BackendError,
    StreamplaceError,
    UsageError,
)
from streamplace.formats.profiling.rest import GoneError, RefusedError, Server

FINAL = (400, 404)  # faults of a request that are the same when it is repeated
RUNNING, INITIALIZING = "RUNNING", "INITIALIZING"
OVERVIEW, CONFIG, TASK_MANAGERS = "/jobs/overview", "/jobmanager/config", "/taskmanagers"
SHOWN = 6  # jobs that a message names, so that it stays a line
LEAST_STATE_BYTES = 16 * 2**20  # less fits into any heap
T = TypeVar("T")


class Listed(NamedTuple):
    """A job as the server lists it."""

    id: str
    name: str
    state: str


class Step(NamedTuple):
    """A job and the TaskManagers at one moment; see `Client.task_managers`."""

    job: Job
    task_managers: tuple[TaskManager, ...]


class Client:
    """The documents of one server.

    What never changes while a job or the JobManager lives, that is, their configurations and the
    version, is read once. All methods raise BackendError if the server does not answer, or in
    another format, and GoneError, which is one, if it does not know what is asked for.

    Parameters
    ----------
    within_s
        Time limit of an answer in seconds.
    """

    def __init__(self, server: Server, within_s: float) -> None:
        self.server, self.within_s = server, within_s
        self._config: Mapping[str, str] | None = None
        self._version: str | None = None
        self._settings: dict[str, tuple[Any, Any]] = {}
        self._step: Step | None = None

    def get(self, path: str) -> Any:
        """Return the JSON value at a path."""
        return self.server.get(path, self.within_s)

    def read(self, path: str, of: Callable[[Any], T]) -> T:
        """Return what a function makes of the JSON value at a path."""
        value = self.get(path)
        with expecting(self.server.url + path):
            return of(value)

    def state(self, job: str) -> JobState:
        """Return a job as its own document describes it, by one request."""
        path = job_path(job)
        return self.read(path, lambda value: documents.state_of(value, self.server.url + path))

    def scheduled(self, state: JobState) -> JobState:
        """Return a job with its scheduler, which only the configuration has before Flink 2.3.

        Raises
        ------
        RefusedError
            If the server refuses the configuration. It is no GoneError, since the job is known.
        """
        if state.scheduler:
            return state
        try:
            return replace(state, scheduler=scheduler_in(self.config()))
        except RefusedError as error:
            refused = RefusedError(f"{error}, so the scheduler of job {state.id} is unknown")
            refused.status = error.status
            raise refused from None

    def job(self, job: str) -> Job:
        """Return a job with its configuration and its checkpoints."""
        return self.completed(self.state(job))

    def completed(self, state: JobState) -> Job:
        """Return a job whose state is known, with its configuration and its checkpoints."""
        path, scheduled = job_path(state.id), self.scheduled(state)
        if (settings := self._settings.get(state.id)) is None:
            settings = self.get(f"{path}/config"), self._if_any(f"{path}/checkpoints/config")
            if state.state != INITIALIZING:
                self._settings[state.id] = settings
        statistics = self._if_any(f"{path}/checkpoints")
        with expecting(self.server.url + path):
            return documents.job_of(scheduled, settings[0], statistics, settings[1])

    def state_by_vertex(self, job: Job) -> dict[str, float]:
        """Return vertex -> the bytes of its state in the latest checkpoint.

        It is empty if that is unknown, or so little that no memory is too small for it.
        """
        if job.checkpoint is None or job.state_bytes < LEAST_STATE_BYTES:
            return {}
        path = f"{job_path(job.id)}/checkpoints/details/{job.checkpoint.number}"
        details = self._if_any(path)
        with expecting(self.server.url + path):
            return {} if details is None else documents.state_by_vertex(details)

    def keep(self, state: JobState, task_managers: tuple[TaskManager, ...]) -> Step:
        """Return a job and its cluster as just measured, and keep them for an action that follows.

        What never changes is read now, too, so that the action needs no more requests for it.
        """
        self._step = None
        self._step = Step(self.completed(state), task_managers)
        with suppress(BackendError):  # which the action meets again
            self.config()
            self.version()
        return self._step

    def of_step(self, job: str) -> Step:
        """Return what was kept of a job, which is done once; otherwise, what is so now."""
        found, self._step = self._step, None
        if found is not None and found.job.id == job:
            return found
        return Step(self.job(job), self.task_managers())

    def plan(self, job: str) -> RunningPlan:
        """Return the plan of a job.

        Raises
        ------
        UsageError
            If the server has no such job.
        """
        path = f"{job_path(job)}/plan"
        where = self.server.url + path

        def plan_in(value: Any) -> RunningPlan:
            return running(value["plan"] if isinstance(value, dict) else None, where)

        try:
            return self.read(path, plan_in)
        except RefusedError as error:
            raise self.refusal(job, error) from None

    def subtasks(self, job: str, vertex: Vertex) -> tuple[Subtask, ...]:
        """Return the instances of a vertex in order."""
        return self.read(f"{job_path(job)}/vertices/{_quoted(vertex.id)}", documents.subtasks_of)

    def hosts(self, state: JobState) -> dict[str, list[str]]:
        """Return operator -> the TaskManager of each of its instances."""
        found: dict[str, list[str]] = {}
        for vertex in state.plan.vertices:
            hosts = [each.host for each in self.subtasks(state.id, vertex)]
            found.update(dict.fromkeys(vertex.operators, hosts))
        return found

    def metrics(
        self, job: str, vertex: Vertex, names: Mapping[str, str], *more: str
    ) -> dict[str, float]:
        """Return the metrics of a vertex's operators, such as ``0.name.numRecordsIn``.

        Parameters
        ----------
        names
            Operator -> its name in metrics; see `metrics_of`.
        more
            Names of metrics besides those of `OPERATOR_METRICS`.
        """
        wanted = [
            f"{i}.{name}.{metric}"
            for name in names.values()
            for metric in (*OPERATOR_METRICS.values(), *more)
            for i in range(vertex.parallelism)
        ]
        path = f"{job_path(job)}/vertices/{_quoted(vertex.id)}/metrics?get="
        found: dict[str, float] = {}
        for query in queries(wanted):
            found |= self.read(path + query, documents.metrics_in)
        return found

    def config(self) -> Mapping[str, str]:
        """Return the configuration of the JobManager."""
        if self._config is None:
            self._config = self.read(CONFIG, cluster.config_of)
        return self._config

    def version(self) -> str:
        """Return Flink's version, such as ``2.3.0``."""
        if self._version is None:
            self._version = self.read("/config", cluster.version_of)
        return self._version

    def task_managers(self) -> tuple[TaskManager, ...]:
        """Return the TaskManagers by id; what jobs hold is not free."""
        return self.read(TASK_MANAGERS, cluster.task_managers_of)

    def slots(self) -> dict[str, int]:
        """Return TaskManager -> number of its slots."""
        return self.read(TASK_MANAGERS, cluster.slots_of)

    def cluster(self, job: str) -> FlinkCluster:
        """Return the cluster; what `job` holds counts as free."""
        config = self.config()
        ids = sorted(self.slots())
        found = [
            self.read(
                f"{TASK_MANAGERS}/{_quoted(each)}", lambda row: cluster.task_manager(row, job)
            )
            for each in ids
        ]
        return FlinkCluster(config, tuple(found))

    def cause(self, job: str) -> str:
        """Return the cause of a job's last failure; empty if unknown."""
        return documents.cause_of(self.get(f"{job_path(job)}/exceptions"))

    def listed(self) -> list[Listed]:
        """Return the jobs that the server knows, also those that have ended."""

        def jobs_in(value: Any) -> list[Listed]:
            return [Listed(str(e["jid"]), str(e["name"]), str(e["state"])) for e in value["jobs"]]

        return self.read(OVERVIEW, jobs_in)

    def check_job(self, job: str) -> None:
        """Refuse the id of a job that the server does not list.

        Raises
        ------
        UsageError
            If it does not. The message names the jobs that run.
        """
        jobs = self.listed()
        if job not in {each.id for each in jobs}:
            runs = running_text(jobs)
            which = f"running: {runs}" if runs else "no job runs there"
            raise UsageError(f"{self.server.url}: no job {job!r:.80}; {which}")

    def refusal(self, job: str, error: RefusedError) -> StreamplaceError:
        """Return the fault of a request about a job: that of a wrong id, or else the server's."""
        try:
            self.check_job(job)
        except UsageError as wrong:
            return wrong
        except BackendError:
            return error
        return error

    def running_job(self, named: str | None = None) -> str:
        """Return the id of the only job that runs, unless the user has named one.

        Raises
        ------
        UsageError
            If no job runs, or several do.
        """
        if named is not None:
            return named
        jobs = [each for each in self.listed() if each.state == RUNNING]
        if len(jobs) != 1:
            which = f"several jobs run: {running_text(jobs)}" if jobs else "no job runs"
            raise UsageError(f"{self.server.url}: {which}; set --job ID")
        return jobs[0].id

    def _if_any(self, path: str) -> Any:
        try:
            return self.get(path)
        except GoneError:
            return None


def call_repeatedly(call: Callable[[], T], until: float, pause_s: float) -> T:
    """Return what a call returns; after a fault of the server, repeat it until a time.

    Parameters
    ----------
    until
        By `time.monotonic`.

    Raises
    ------
    RefusedError
        At once, if the server says that it will always refuse.
    BackendError
        The first fault, if there is no answer in time.
    """
    first: BackendError | None = None
    while True:
        try:
            return call()
        except BackendError as error:
            if isinstance(error, GoneError) or getattr(error, "status", 0) in FINAL:
                raise
            first = first or error
            if until - time.monotonic() <= pause_s:
                raise first from None
        time.sleep(pause_s)


def running_text(jobs: Sequence[Listed]) -> str:
    """Return the jobs that run, such as ``4f2a (count)``, separated by commas; perhaps empty."""
    return ", ".join([f"{e.id} ({e.name})" for e in jobs if e.state == RUNNING][:SHOWN])


def job_path(job: str) -> str:
    """Return the path of a job."""
    return f"/jobs/{_quoted(job)}"


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")
