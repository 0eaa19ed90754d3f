"""Continuation of a restart that was interrupted, from its last progress in the journal."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from streamplace.control.flink.acting import Acted, Record
from streamplace.control.plans import Deployment
from streamplace.errors import BackendError, FormatError
from streamplace.integrations.flink.applying.asking import Asking
from streamplace.integrations.flink.applying.documents import Job
from streamplace.integrations.flink.applying.progress import (
    EndedByOthersError,
    FailedError,
    Progress,
)
from streamplace.integrations.flink.applying.stopping import (
    EndedError,
    Stopping,
    ended_by_others,
)
from streamplace.integrations.profiling.rest import Server
from streamplace.workflows.apply import Options

PROGRESS = "progress"
INTERRUPTED = "the controller was interrupted while it rolled back"


class Restarts(Protocol):
    """What restarts jobs; see `RestartBackend`."""

    server: Server
    options: Options
    say: Callable[[str], object]

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Restart a job."""
        ...

    def go_back(self, job: str, savepoint: str, fault: str, record: Record) -> Acted:
        """Start a job that has ended with its own mapping again."""
        ...


@dataclass(frozen=True)
class Resuming:
    """An interrupted restart.

    Parameters
    ----------
    job
        The job before the restart.
    last
        The last `Progress` in the journal. It names a job and a stop before they are asked for, so
        it tells what may have happened; Flink tells what has.
    """

    restarts: Restarts
    job: str
    deployment: Deployment
    last: Mapping[str, Any]
    record: Record

    def run(self) -> Acted | None:
        """Go on; None if nothing has been changed."""
        latest = str(self.last["job"])
        progress = Progress(latest, savepoint=str(self.last["savepoint"]))
        progress.cancelling = bool(self.last["cancelling"])
        try:
            found = self._settled(progress)
        except FailedError as error:
            return self._not_stopped(progress, error)
        except BackendError as error:
            return Acted(latest, False, runs=False, reason=str(error))
        savepoint, goes_back = progress.savepoint, bool(self.last["rolling_back"])
        if found is None and latest == self.job:
            return forgotten(latest, savepoint)
        if found is None or not found.ended:
            return None if latest == self.job else self._from(savepoint, goes_back)
        return self._after(found, progress, goes_back)

    def _after(self, found: Job, progress: Progress, goes_back: bool) -> Acted:
        """Go on after the latest job, which has ended."""
        latest, savepoint = found.id, progress.savepoint
        if found.stopped_at is not None:
            if not self.last["trigger"] and found.stopped_at != savepoint:
                reason = f"job {latest} was stopped by somebody else, with {found.stopped_at}"
                return Acted(latest, False, False, reason=reason, lost=True)
            return self._from(found.stopped_at, latest != self.job)
        cancelling = progress.cancelling or bool(latest == self.job and savepoint)
        if reason := ended_by_others(found, cancelling):
            return Acted(latest, False, False, reason=reason, lost=True)
        if latest == self.job and found.checkpoint is not None:
            savepoint = found.checkpoint.path
        return self._from(savepoint, goes_back)

    def _not_stopped(self, progress: Progress, error: FailedError) -> Acted:
        """Return the outcome after a stop that failed."""
        stops, reason = bool(progress.trigger) or not progress.running, str(error)
        if isinstance(error, EndedByOthersError):
            return Acted(progress.job, False, False, reason=reason, lost=True)
        changed = stops or progress.job != self.job
        return Acted(progress.job, False, changed=changed, reason=reason, stops=stops)

    def _settled(self, progress: Progress) -> Job | None:
        """Return the latest job once a stop or a cancelling in progress has ended.

        None if Flink does not know it. After a stop that never reached Flink, it still runs.
        """
        latest = progress.job
        asking = Asking(self.restarts.server, self.restarts.options.limits)
        found, trigger = asking.found(latest), str(self.last["trigger"])
        if found is None or found.ended:
            return found
        if trigger:
            note, say = noting(self.record, self.restarts.say), self.restarts.say
            stopping = Stopping(asking, "", progress, say, lambda: note(progress))
            try:
                stopping.go_on(latest, trigger, found.checkpoint_timeout_s or 0.0)
            except EndedError:
                pass  # its latest checkpoint has the state
            except FailedError:
                if not stopping.is_unknown or progress.trigger or not progress.running:
                    raise
        elif self.last["savepoint"] and latest == self.job:
            progress.running = False
            asking.await_end(latest)
        return asking.found(latest)

    def _from(self, savepoint: str, goes_back: bool) -> Acted:
        if goes_back:
            return self.restarts.go_back(self.job, savepoint, INTERRUPTED, self.record)
        return self.restarts.act(self.job, self.deployment, self.record, savepoint or None)


def noting(record: Record, say: Callable[[str], object]) -> Callable[[Progress], object]:
    """Return what writes the progress of a restart into the journal.

    If that fails before a stop, the stop is not asked for. Afterwards, a job that runs is worth
    more than the line: the ids of jobs follow from the savepoint, so that they are found again.
    """

    def note(progress: Progress) -> None:
        try:
            record(PROGRESS, asdict(progress))
        except FormatError as error:
            if progress.trigger and not progress.cancelling:
                raise
            say(f"{error}; going on without this line")

    return note


def forgotten(job: str, savepoint: str) -> Acted:
    """Return the outcome where Flink does not know the former job any more."""
    state = f"; all state is in {savepoint}, from which the jar can be started" if savepoint else ""
    reason = f"Flink does not know job {job} any more, so nothing can be started like it{state}"
    return Acted(job, False, False, reason=reason, savepoint=savepoint, lost=True)
