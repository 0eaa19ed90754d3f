"""Requests of a restart to Flink, repeated after faults of the server."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from streamplace.engines.flink.applying.requests import Request
from streamplace.engines.flink.client import Client, call_repeatedly
from streamplace.engines.flink.documents import Job, JobState
from streamplace.errors import BackendError
from streamplace.formats.profiling.rest import GoneError, RefusedError


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds, and what may be done when they are over.

    Parameters
    ----------
    answer_s, savepoint_s, start_s
        Limits of an answer, of a savepoint, and of a start until all vertices run.
    cancel_age_s
        If a savepoint does not end in time, the job is cancelled where its latest checkpoint is
        kept and is younger than this. None: jobs are not cancelled.
    """

    answer_s: float = 10.0
    savepoint_s: float = 60.0
    start_s: float = 120.0
    cancel_age_s: float | None = None


class FailedError(BackendError):
    """A step failed; the message says why and what runs now."""


class EndedByOthersError(FailedError):
    """Somebody else cancelled the job, or it has finished: nothing must be started."""


@dataclass
class Progress:
    """What has happened so far, from which follows what runs if the restart ends now.

    Parameters
    ----------
    trigger
        Id of the stop in progress; empty before it, and once it has ended.
    savepoint
        The savepoint or checkpoint that has all state; empty while the former job runs.
    job
        The job that runs, or is being started.
    rolling_back, rolled_back
        Whether the former mapping is being started again, and whether it runs.
    cancelling
        Whether the job is being cancelled, or was, until another one is started.
    down_since, down_s
        When the job no longer ran (`time.monotonic`), and the seconds until one ran again; None
        before.
    """

    job: str
    trigger: str = ""
    savepoint: str = ""
    running: bool = True
    rolled_back: bool = False
    rolling_back: bool = False
    cancelling: bool = False
    down_since: float | None = None
    down_s: float | None = None
    hosts: dict[str, list[str]] = field(default_factory=dict)


POLL_S = 0.5
STALE_S = 5.0  # Flink answers with states that are up to 3 s old
SETTLE_S = 2.0  # a started job must still run after this time
GRACE_S = 30.0  # after the time at which Flink gives up a savepoint


T = TypeVar("T")


class Asking:
    """Requests to one server within time limits."""

    def __init__(self, client: Client, limits: Limits) -> None:
        self.client, self.limits = client, limits

    def send(self, request: Request, within_s: float | None = None) -> object:
        """Send a request once; see `Server.send`."""
        limit_s = self.limits.answer_s if within_s is None else within_s
        return self.client.server.send(request.method, request.path, request.body, limit_s)

    def read(self, job: str) -> Job:
        """Read a job; see `call_repeatedly`."""
        return self.repeated(lambda: self.client.job(job))

    def repeated(self, call: Callable[[], T]) -> T:
        """Return what a call returns; after a fault, repeat it until the time for a start is over.

        Raises
        ------
        GoneError
            If Flink does not know what is asked for.
        BackendError
            If there is no answer in time.
        """
        return call_repeatedly(call, time.monotonic() + self.limits.start_s, POLL_S)

    def found(self, job: str) -> Job | None:
        """Return a job; None if Flink does not know it."""
        try:
            return self.read(job)
        except GoneError:
            return None

    def state(self, job: str) -> JobState | None:
        """Return a job's own document; None if Flink does not know the job."""
        try:
            return self.repeated(lambda: self.client.state(job))
        except GoneError:
            return None

    def await_end(self, job: str) -> None:
        """Wait until a job has ended.

        Raises
        ------
        FailedError
            If it does not end in time.
        """
        until = time.monotonic() + self.limits.start_s
        while time.monotonic() < until:
            with ask_again():
                if self.client.state(job).ended:
                    return
            time.sleep(POLL_S)
        raise FailedError(f"job {job} was stopped but has not ended; see its page in Flink")

    def cause(self, job: str) -> str:
        """Return the cause of a job's last failure; empty if unknown."""
        with ask_again():
            return self.client.cause(job)
        return ""


@contextmanager
def ask_again() -> Iterator[None]:
    """Let a loop ask again after a fault of the server."""
    try:
        yield
    except BackendError:
        return


def is_certain(error: RefusedError) -> bool:
    """Return whether Flink has refused what was asked for, so that it does not happen later.

    A proxy that gives up waiting answers with a fault, too, and so does Flink when its own parts do
    not answer each other in time; what was asked for may then still happen.
    """
    return "errors" in error.answer and "TimeoutException" not in error.answer
