"""Execution of a restart: stop, start, verify, and one rollback."""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from streamplace.errors import BackendError
from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.flink.applying import requests
from streamplace.integrations.flink.applying.documents import (
    Cluster,
    Job,
    cause_of,
    job_path,
    last_cause,
    read_hosts,
    read_job,
)
from streamplace.integrations.flink.applying.requests import Program, Request
from streamplace.integrations.flink.applying.verification import differences
from streamplace.integrations.flink.groups import Groups
from streamplace.integrations.profiling.rest import GoneError, RefusedError, Server

POLL_S = 0.5
STALE_S = 5.0  # Flink answers with states that are up to 3 s old
SETTLE_S = 2.0  # a started job must still run after this time
GRACE_S = 30.0  # after the time at which Flink gives up a savepoint
MAX_ATTEMPTS = 20


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds: of an answer, of a savepoint, of a start until all vertices run."""

    answer_s: float = 10.0
    savepoint_s: float = 60.0
    start_s: float = 120.0


class FailedError(BackendError):
    """A step failed; the message says why and what runs now."""


@dataclass
class Progress:
    """What has happened so far, from which follows what runs if the restart ends now.

    Parameters
    ----------
    trigger
        Id of the stop in progress; empty before it, and once it has ended.
    savepoint
        The savepoint that has all state; empty while the former job runs.
    job
        The job that runs, or is being started.
    """

    job: str
    trigger: str = ""
    savepoint: str = ""
    running: bool = True
    rolled_back: bool = False
    hosts: dict[str, list[str]] = field(default_factory=dict)


class Restart:
    """A restart of one job.

    Parameters
    ----------
    job
        The job, as read before.
    mapping
        The mapping to start with.
    say
        Called with each line of progress.
    """

    def __init__(
        self,
        server: Server,
        job: Job,
        jar: str,
        program: Program,
        mapping: str,
        directory: str,
        limits: Limits,
        say: Callable[[str], object],
    ) -> None:
        self.server, self.former, self.jar, self.program = server, job, jar, program
        self.mapping, self.directory, self.limits, self.say = mapping, directory, limits, say
        self.progress = Progress(job.id)

    def run(
        self, groups: Groups, cluster: Callable[[str], Cluster], savepoint: str | None
    ) -> Progress:
        """Restart the job and return what runs.

        Parameters
        ----------
        cluster
            Reads the cluster, given a job.
        savepoint
            The savepoint to start from; None: stop the job with one.

        Raises
        ------
        FailedError
            If the job does not run as placed; the message says what runs.
        """
        if savepoint is None:
            savepoint = self._stop(self.former.id, self.former.checkpoint_timeout_s or 0.0)
        self.progress.savepoint, self.progress.running = savepoint, False
        self._check_successors(savepoint)
        fault = self._start(self.mapping, savepoint)
        if not fault:
            new = self._read(self.progress.job)
            self.progress.hosts = read_hosts(self.server, new, self.limits.answer_s)
            found = differences(groups, new, self.progress.hosts, cluster(new.id), savepoint)
            fault = "; ".join(found)
        if fault:
            self._roll_back(fault, savepoint)
        return self.progress

    def _stop(self, job: str, checkpoint_timeout_s: float) -> str:
        """Stop a job with a savepoint and return its path; the job still runs after a fault."""
        self.say(f"stopping job {job} with a savepoint below {self.directory}")
        trigger = self.progress.trigger = uuid.uuid4().hex
        self._send(requests.stop(job, self.directory, trigger))
        began = time.monotonic()
        deadline_s = self.limits.savepoint_s
        give_up_s = max(deadline_s, checkpoint_timeout_s) + GRACE_S
        while True:
            if (ended := self._savepoint(job, trigger)) is not None:
                self.progress.trigger = ""
                location, fault = ended
                location = location or self._stopped_at(job)
                if not location:
                    self._end_of_failed_stop(job, fault)
                self.progress.savepoint, self.progress.running = location, False
                self.say(f"stopped after {time.monotonic() - began:.1f} s; savepoint {location}")
                self._await_end(job)
                return location
            waited_s = time.monotonic() - began
            if waited_s > give_up_s:
                raise FailedError(
                    f"the savepoint has not ended after {waited_s:.0f} s; job {job} still runs, "
                    "and stops if it ends; repeat the command then"
                )
            if waited_s > deadline_s:
                self.say(
                    f"the savepoint has not ended after {deadline_s:g} s; job {job} still runs. "
                    f"Flink gives it up {checkpoint_timeout_s:g} s after its start; waiting"
                )
                deadline_s = give_up_s
            time.sleep(POLL_S)

    def _savepoint(self, job: str, trigger: str) -> tuple[str, str] | None:
        """Return the path of a savepoint, or "" and its fault; None while it is in progress."""
        path = requests.savepoint_status(job, trigger).path
        try:
            value = self.server.get(path, self.limits.answer_s)
        except RefusedError as error:
            return "", str(error)
        except BackendError:
            return None  # asked again
        with expecting(self.server.url + path):
            if value["status"]["id"] == "IN_PROGRESS":
                return None
            operation = value.get("operation") or {}
            cause = operation.get("failure-cause") or {}
            return str(operation.get("location", "")), last_cause(str(cause.get("stack-trace", "")))

    def _stopped_at(self, job: str) -> str:
        """Return the savepoint with which another, earlier request stopped the job, or ""."""
        until = time.monotonic() + STALE_S
        while not (found := self._read(job)).ended and time.monotonic() < until:
            time.sleep(POLL_S)
        return (found.stopped_at or "") if found.ended else ""

    def _end_of_failed_stop(self, job: str, fault: str) -> NoReturn:
        """Raise FailedError; start the job again if Flink has given it up.

        Flink restarts a job whose stop failed from its last checkpoint, unless its restart strategy
        is to give up.
        """
        found = self._read(job)
        if not found.ended:
            raise FailedError(f"the savepoint failed, and job {job} still runs: {fault}")
        self.progress.running = False
        if found.checkpoint is None:
            raise FailedError(f"the savepoint failed, and the job with it, without state: {fault}")
        self.progress.savepoint = found.checkpoint.path
        self.say(f"the savepoint failed, and the job is {found.state}: {fault}")
        self._return_to(
            self.former.mapping, found.checkpoint.path, f"the savepoint failed: {fault}"
        )

    def _await_end(self, job: str) -> None:
        until = time.monotonic() + self.limits.start_s
        while time.monotonic() < until:
            with _retried():
                if read_job(self.server, job, self.limits.answer_s).ended:
                    return
            time.sleep(POLL_S)
        raise FailedError(f"job {job} has its savepoint but has not ended; see its page in Flink")

    def _start(self, mapping: str | None, savepoint: str, rollback: bool = False) -> str:
        """Start a job, or take up one that an interrupted run started; return a fault or ""."""
        job = self._free_id(savepoint, rollback)
        self.progress.job = job
        self.say(f"starting job {job} from {savepoint}")
        if self._found(job) is None:
            request = requests.run(self.jar, self.program, mapping, savepoint, job)
            try:
                self._send(request, self.limits.start_s)
            except RefusedError as error:
                return f"Flink refuses to start it: {last_cause(error.answer) or error}"
            except BackendError as error:
                self.say(f"{error}; looking whether the job has started")
        return self._await_running(job, time.monotonic() + self.limits.start_s)

    def _free_id(self, savepoint: str, rollback: bool) -> str:
        for attempt in range(MAX_ATTEMPTS):
            job = requests.successor(self.former.id, savepoint, attempt, rollback)
            found = self._found(job)
            if found is None or not found.ended:
                return job
            if found.stopped_at is not None:
                raise FailedError(f"job {job} went on from there and was stopped; use --job {job}")
        raise FailedError(f"{MAX_ATTEMPTS} starts from {savepoint} have failed; see Flink's pages")

    def _check_successors(self, savepoint: str) -> None:
        """Raise FailedError if an earlier run has rolled back: its job goes on."""
        for attempt in range(MAX_ATTEMPTS):
            job = requests.successor(self.former.id, savepoint, attempt, True)
            found = self._found(job)
            if found is None:
                return
            if not found.ended or found.stopped_at is not None:
                self.progress.job, self.progress.running = job, not found.ended
                raise FailedError(f"an earlier run rolled back to job {job}; use --job {job}")

    def _read(self, job: str) -> Job:
        """Read a job; after a fault, ask again until the time for a start is over."""
        until = time.monotonic() + self.limits.start_s
        while True:
            try:
                return read_job(self.server, job, self.limits.answer_s)
            except GoneError:
                raise
            except BackendError:
                if time.monotonic() > until:
                    raise
            time.sleep(POLL_S)

    def _found(self, job: str) -> Job | None:
        """Return a job; None if Flink does not know it."""
        try:
            return self._read(job)
        except GoneError:
            return None

    def _await_running(self, job: str, until: float) -> str:
        """Wait until all vertices of a job run and go on running; return a fault or ""."""
        state, since = "unknown to Flink", 0.0
        while time.monotonic() < until:
            with _retried():
                found = read_job(self.server, job, self.limits.answer_s)
                waiting = [name for name, v in found.vertex_of.items() if v.status != "RUNNING"]
                state = f"{found.state}, waiting: {', '.join(waiting)}" if waiting else found.state
                if found.ended:
                    return f"the job is {found.state}: {self._cause(job)}"
                since = (since or time.monotonic()) if found.runs else 0.0
                if since and time.monotonic() - since >= SETTLE_S:
                    self.progress.running = True
                    return ""
            time.sleep(POLL_S)
        why = self._cause(job)
        return f"not running after {self.limits.start_s:g} s ({state}{': ' if why else ''}{why})"

    def _cause(self, job: str) -> str:
        with _retried():
            return cause_of(self.server.get(f"{job_path(job)}/exceptions", self.limits.answer_s))
        return ""

    def _roll_back(self, fault: str, savepoint: str) -> NoReturn:
        """Start the former mapping again, from the savepoint with all state."""
        failed = self.progress.job
        self.say(f"not as placed: {fault}")
        if self.progress.running:
            timeout_s = self.former.checkpoint_timeout_s or self.limits.savepoint_s
            try:
                savepoint = self._stop(failed, timeout_s)
            except BackendError as error:
                raise FailedError(f"{fault}; no rollback, job {failed} runs: {error}") from None
        elif (found := self._found(failed)) is not None and not found.ended:
            self._send(requests.cancel(failed))
            self._await_end(failed)
        self.progress.savepoint, self.progress.running = savepoint, False
        self._return_to(self.former.mapping, savepoint, fault)

    def _return_to(self, mapping: str | None, savepoint: str, fault: str) -> NoReturn:
        self.say("rolling back to the former mapping")
        if again := self._start(mapping, savepoint, rollback=True):
            raise FailedError(
                f"{fault}; the rollback failed too: {again}; all state is in {savepoint}"
            )
        self.progress.rolled_back = True
        raise FailedError(f"{fault}; rolled back: job {self.progress.job} runs as before")

    def what_runs(self) -> str:
        """Return one sentence: what runs if the restart ends now, and where the state is."""
        now = self.progress
        if now.trigger:
            ended = None
            with _retried():
                ended = self._savepoint(now.job, now.trigger)
            if ended is None or not ended[0]:
                return (
                    f"job {now.job} runs; if its savepoint (trigger {now.trigger}) ends, it stops "
                    "and its state is there"
                )
            now.savepoint, now.running = ended[0], False
        if now.running:
            return f"job {now.job} runs"
        return f"all state is in {now.savepoint}, and no job may run yet"

    def _send(self, request: Request, within_s: float | None = None) -> object:
        limit_s = self.limits.answer_s if within_s is None else within_s
        return self.server.send(request.method, request.path, request.body, limit_s)


@contextmanager
def _retried() -> Iterator[None]:
    """Let a loop ask again after a fault of the server."""
    try:
        yield
    except BackendError:
        return
