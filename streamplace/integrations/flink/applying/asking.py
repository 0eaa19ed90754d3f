"""Requests of a restart to Flink, repeated after faults of the server."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from streamplace.errors import BackendError
from streamplace.integrations.flink.applying import pauses
from streamplace.integrations.flink.applying.progress import FailedError, Limits
from streamplace.integrations.flink.applying.requests import Request
from streamplace.integrations.flink.client import Client, repeated
from streamplace.integrations.flink.documents import Job, JobState
from streamplace.integrations.profiling.rest import GoneError, RefusedError

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
        """Read a job; see `repeated`."""
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
        return repeated(call, time.monotonic() + self.limits.start_s, pauses.POLL_S)

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
            with retried():
                if self.client.state(job).ended:
                    return
            time.sleep(pauses.POLL_S)
        raise FailedError(f"job {job} was stopped but has not ended; see its page in Flink")

    def cause(self, job: str) -> str:
        """Return the cause of a job's last failure; empty if unknown."""
        with retried():
            return self.client.cause(job)
        return ""


@contextmanager
def retried() -> Iterator[None]:
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
