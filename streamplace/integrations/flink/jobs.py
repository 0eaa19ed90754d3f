"""The jobs that a Flink server lists, for messages about wrong ids."""

from typing import NamedTuple

from streamplace.errors import BackendError, StreamplaceError, UsageError
from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.profiling.rest import RefusedError, Server

RUNNING = "RUNNING"
OVERVIEW = "/jobs/overview"
SHOWN = 6


class Listed(NamedTuple):
    """A job as the server lists it."""

    id: str
    name: str
    state: str


def jobs_of(server: Server, within_s: float) -> list[Listed]:
    """Return the jobs that the server knows, also those that have ended.

    Raises
    ------
    BackendError
        If the server does not answer.
    """
    value = server.get(OVERVIEW, within_s)
    with expecting(f"{server.url}{OVERVIEW}"):
        return [Listed(str(e["jid"]), str(e["name"]), str(e["state"])) for e in value["jobs"]]


def running_text(jobs: list[Listed]) -> str:
    """Return the jobs that run, such as ``4f2a (count)``, separated by commas; perhaps empty."""
    return ", ".join([f"{e.id} ({e.name})" for e in jobs if e.state == RUNNING][:SHOWN])


def check_job(server: Server, job: str, within_s: float) -> None:
    """Refuse the id of a job that the server does not list.

    Raises
    ------
    UsageError
        If it does not. The message names the jobs that run.
    BackendError
        If the server does not answer.
    """
    jobs = jobs_of(server, within_s)
    if job not in {each.id for each in jobs}:
        running = running_text(jobs)
        which = f"running: {running}" if running else "no job runs there"
        raise UsageError(f"{server.url}: no job {job!r:.80}; {which}")


def refusal(server: Server, job: str, error: RefusedError, within_s: float) -> StreamplaceError:
    """Return the fault of a request about a job: that of a wrong id, or else the server's."""
    try:
        check_job(server, job, within_s)
    except UsageError as wrong:
        return wrong
    except BackendError:
        return error
    return error
