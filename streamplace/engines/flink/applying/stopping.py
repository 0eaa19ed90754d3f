"""Stops of a job: with a savepoint, or by cancelling it where its latest checkpoint is kept."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from streamplace.engines.flink.applying import asking, requests
from streamplace.engines.flink.applying.asking import (
    Asking,
    EndedByOthersError,
    FailedError,
    Progress,
    is_certain,
)
from streamplace.engines.flink.documents import Checkpoint, Job, expecting, last_cause
from streamplace.errors import BackendError
from streamplace.formats.profiling.rest import GoneError, RefusedError

CANCELED, FINISHED = "CANCELED", "FINISHED"
ENDING = ("CANCELLING", "FAILING")


class EndedError(Exception):
    """The job has ended with its savepoint, and its latest checkpoint has all that is left."""

    def __init__(self, fault: str, checkpoint: str) -> None:
        super().__init__(fault)
        self.checkpoint = checkpoint


@dataclass
class Stopping:
    """Stops of jobs.

    Parameters
    ----------
    note
        Called whenever the progress has changed, before the next request.
    late_s
        Until when (`time.monotonic`) a stop without an answer may still reach Flink.
    is_unknown
        Whether Flink did not know the stop when it was asked last.
    """

    asking: Asking
    directory: str
    progress: Progress
    say: Callable[[str], object]
    note: Callable[[], object]
    late_s: float = field(default=0.0, init=False)
    is_unknown: bool = field(default=False, init=False)

    def stop(self, job: str, checkpoint_timeout_s: float) -> str:
        """Stop a job and return the path of its savepoint, or of its latest checkpoint.

        Parameters
        ----------
        checkpoint_timeout_s
            Time after which Flink gives up the savepoint.

        Raises
        ------
        FailedError
            If the job still runs; with `EndedByOthersError`, it has ended and must not be started.
        EndedError
            If it has failed or was cancelled here, so that there is no savepoint.
        """
        self.say(f"stopping job {job} with a savepoint below {self.directory}")
        trigger = self.progress.trigger = uuid.uuid4().hex
        self.note()
        self._send_stop(job, trigger)
        return self.go_on(job, trigger, checkpoint_timeout_s)

    def go_on(self, job: str, trigger: str, checkpoint_timeout_s: float) -> str:
        """Wait for the end of a stop that was begun before; see `stop`."""
        self.progress.trigger = trigger
        began = asked = time.monotonic()
        deadline_s = self.asking.limits.savepoint_s
        give_up_s = max(deadline_s, checkpoint_timeout_s) + asking.GRACE_S
        while True:
            if (ended := self.savepoint(job, trigger)) is not None:
                return self._ended(job, *ended, began, asked)
            asked = time.monotonic()
            if asked - began > give_up_s:
                raise FailedError(
                    f"the savepoint has not ended after {asked - began:.0f} s; job {job} still "
                    "runs, and stops if it ends; repeat the command then"
                )
            if asked - began > deadline_s:
                late = f"the savepoint has not ended after {deadline_s:g} s"
                if path := self._cancelled(job, late):
                    return path
                deadline_s = give_up_s
                self.say(f"Flink gives it up {checkpoint_timeout_s:g} s after its start; waiting")
            time.sleep(asking.POLL_S)

    def _send_stop(self, job: str, trigger: str) -> None:
        try:
            self.asking.send(requests.stop(job, self.directory, trigger))
        except BackendError as error:
            if isinstance(error, RefusedError) and is_certain(error):
                known = self.savepoint(job, trigger)
                if known is None or known[0]:
                    return
                self.progress.trigger = ""
                raise FailedError(
                    f"Flink refuses to stop job {job}, which still runs: {error}"
                ) from None
            self.late_s = time.monotonic() + self.asking.limits.answer_s
            self.say(f"{error}; looking whether the job stops")

    def savepoint(self, job: str, trigger: str) -> tuple[str, str] | None:
        """Return the path of a savepoint, or "" and its fault; None while it is in progress."""
        path = requests.savepoint_status(job, trigger).path
        try:
            value = self.asking.client.get(path)
        except GoneError as error:
            self.is_unknown = True
            return None if time.monotonic() < self.late_s else ("", str(error))
        except BackendError:
            return None  # asked again, since the savepoint may still end
        self.is_unknown = False
        with expecting(self.asking.client.server.url + path):
            return _operation(value)

    def _ended(self, job: str, location: str, fault: str, began: float, asked: float) -> str:
        """Return the path of a savepoint that has ended; the job has ended, too."""
        location = location or self._stopped_at(job)
        if not location:
            self._end_of_failed_stop(job, fault)
        self._down(location, asked)
        self.say(f"stopped after {time.monotonic() - began:.1f} s; savepoint {location}")
        self.asking.await_end(job)
        return location

    def _down(self, path: str, since: float) -> None:
        """Record that the job no longer runs, and where its state is."""
        self.progress.trigger, self.progress.savepoint = "", path
        self.progress.running, self.progress.down_since = False, since
        self.note()

    def _cancelled(self, job: str, late: str) -> str:
        """Cancel a job whose savepoint hangs, where that is allowed and harmless.

        Return the path of the checkpoint, or of the savepoint if it has ended meanwhile; empty if
        the job goes on.
        """
        found = self.asking.read(job)
        if refusal := cancel_refusal(found, self.asking.limits.cancel_age_s):
            self.say(f"{late}; job {job} still runs: {refusal}")
            return ""
        self.say(f"{late}; cancelling job {job}, whose latest checkpoint is kept")
        since = time.monotonic()
        self.progress.cancelling = True
        self.note()
        try:
            self.asking.send(requests.cancel(job))
        except BackendError as error:
            if isinstance(error, RefusedError) and is_certain(error):
                self.progress.cancelling = False
                self.say(f"Flink refuses to cancel job {job}, which still runs: {error}")
                return ""
            self.say(f"{error}; looking whether the job is cancelled")
        self.asking.await_end(job)
        after = self.asking.read(job)
        latest = after.checkpoint or found.checkpoint
        path = after.stopped_at or (latest.path if latest else "")
        self._down(path, since)
        self.say(f"cancelled; its state is in {path}")
        return path

    def _stopped_at(self, job: str) -> str:
        """Return the savepoint with which another, earlier request stopped the job, or "".

        A job that is being cancelled or is failing is awaited.
        """
        began = time.monotonic()
        while not (found := self.asking.repeated(lambda: self.asking.client.state(job))).ended:
            limit_s = self.asking.limits.start_s if found.state in ENDING else asking.STALE_S
            if time.monotonic() - began >= limit_s:
                return ""
            time.sleep(asking.POLL_S)
        return self.asking.read(job).stopped_at or ""

    def _end_of_failed_stop(self, job: str, fault: str) -> NoReturn:
        """Raise FailedError if the job goes on, and EndedError if Flink has given it up.

        Flink restarts a job whose stop failed from its last checkpoint, unless its restart strategy
        is to give up.
        """
        found = self.asking.read(job)
        if found.state in ENDING:  # so that the stop is not over
            raise FailedError(f"the savepoint failed, and job {job} is {found.state}: {fault}")
        self.progress.trigger = ""
        if not found.ended:
            raise FailedError(f"the savepoint failed, and job {job} still runs: {fault}")
        self.progress.running = False
        if reason := ended_by_others(found, self.progress.cancelling):
            raise EndedByOthersError(reason)
        if found.checkpoint is None:
            raise FailedError(f"the savepoint failed, and the job with it, without state: {fault}")
        self._down(found.checkpoint.path, time.monotonic())
        self.say(f"the savepoint failed, and the job is {found.state}: {fault}")
        raise EndedError(fault, found.checkpoint.path)


def _operation(value: Any) -> tuple[str, str] | None:
    """Return the path of a savepoint, or "" and its fault, from its document; see `savepoint`."""
    if value["status"]["id"] == "IN_PROGRESS":
        return None
    operation = value.get("operation") or {}
    cause = operation.get("failure-cause") or {}
    return str(operation.get("location", "")), last_cause(str(cause.get("stack-trace", "")))


def ended_by_others(job: Job, cancelling: bool) -> str:
    """Return why a job that was not stopped is not started again; empty if it failed.

    Parameters
    ----------
    cancelling
        Whether this program cancelled it.
    """
    if job.state == FINISHED:
        how = "has finished"
    elif job.state == CANCELED and not cancelling:
        how = "was cancelled by somebody else"
    else:
        return ""
    kept = job.checkpoint is not None and (job.keeps_checkpoints or job.state == FINISHED)
    where = f"; its latest checkpoint was {job.checkpoint.path}" if kept and job.checkpoint else ""
    return f"job {job.id} {how}, so nothing is started{where}"


def cancel_refusal(job: Job, most_age_s: float | None) -> str:
    """Return why a job must not be cancelled, or "" if its latest checkpoint keeps its state."""
    latest: Checkpoint | None = job.checkpoint
    if most_age_s is None:
        return "only watch with --allow-cancel cancels it"
    if not job.keeps_checkpoints:
        return "its checkpoints are deleted when it is cancelled"
    if latest is None:
        return "it has no checkpoint"
    if latest.age_s > most_age_s:
        return f"its latest checkpoint is {latest.age_s:.0f} s old, more than {most_age_s:g} s"
    return ""
