"""Actions by a restart from a savepoint, also by the continuation of one that was interrupted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from streamplace.control.interfaces import Acted, Record
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.engines.flink.applying.apply import (
    Options,
    Prepared,
    check_jar,
    delete,
    prepare_groups,
    restart_of,
    upload,
)
from streamplace.engines.flink.applying.asking import (
    Asking,
    EndedByOthersError,
    FailedError,
    Progress,
)
from streamplace.engines.flink.applying.restart import Restart
from streamplace.engines.flink.applying.stopping import (
    EndedError,
    Stopping,
    ended_by_others,
)
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.documents import Job
from streamplace.engines.flink.groups import Groups, groups_anywhere, groups_on
from streamplace.engines.flink.watching.sampling import refusals
from streamplace.errors import BackendError, FormatError, ProblemError, UsageError

PROGRESS = "progress"
INTERRUPTED = "the controller was interrupted while it rolled back"


class RestartRealiser:
    """Restarts: a savepoint stops the job, and the jar runs from it with another mapping.

    Parameters
    ----------
    options
        The jar and how it is started; their job is ignored.
    devices
        All devices of the cluster, to which instances are pinned by labels. Empty: only numbers of
        instances are set, and Flink chooses the slots.
    say
        Called with each line of progress.
    """

    def __init__(
        self, client: Client, options: Options, devices: Sequence[str], say: Callable[[str], object]
    ) -> None:
        self.client, self.options, self.devices, self.say = client, options, devices, say

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Restart a job; see `Realiser`."""
        how = replace(self.options, job=job, savepoint=savepoint)
        jar = None
        try:
            found = self.client.of_step(job).job
            if savepoint is None and found.ended:
                reason = f"job {job} is {found.state}, and this controller did not stop it"
                return Acted(job, False, False, False, reason=reason, lost=True)
            prepared = self._prepared(how, deployment, found)
            jar = prepared.jar or self._uploaded(how)
            check_jar(prepared, self.client.server, how, jar)
        except (BackendError, ProblemError, UsageError, OSError) as error:
            self._delete(jar)
            if savepoint is None:
                return Acted(job, False, changed=False, reason=f"nothing is changed: {error}")
            return self.go_back(job, savepoint, str(error), record)
        made = restart_of(prepared, self.client, how, jar, self.say, noting(record, self.say))
        try:
            made.run(prepared.groups, prepared.savepoint)
        except BackendError as error:
            return failed(made, error)
        finally:
            self._delete(jar)
        return Acted(made.progress.job, True, downtime_s=made.progress.down_s)

    def resume(
        self, job: str, deployment: Deployment, steps: Sequence[Entry], record: Record
    ) -> Acted | None:
        """Go on with a restart that was interrupted; see `Realiser`."""
        known = [each.details for each in steps if each.step == PROGRESS]
        return Resuming(self, job, deployment, known[-1], record).run() if known else None

    def go_back(self, job: str, savepoint: str, fault: str, record: Record) -> Acted:
        """Start a job that has ended with its own mapping again, unless a successor runs.

        Parameters
        ----------
        savepoint
            The savepoint or checkpoint to start from.
        fault
            Why.
        """
        how, jar, made = replace(self.options, job=job), None, None
        try:
            former = Asking(self.client, how.limits).found(job)
            if former is None:
                return forgotten(job, savepoint)
            jar = how.jar if not Path(how.jar).is_file() else self._uploaded(how)
            made = Restart(
                *(self.client, former, jar, how.program, "", "", how.limits),
                self.say,
                noting(record, self.say),
            )
            made.progress.savepoint, made.progress.running = savepoint, False
            if (running := made.running_successor(savepoint)) is not None:
                return Acted(running, False, reason=f"{fault}; job {running} runs, not verified")
            made.return_to(savepoint, fault)
        except (BackendError, UsageError, OSError) as error:
            if made is not None and isinstance(error, BackendError):
                return failed(made, error)
            reason = f"{fault}; not started again: {error}; all state is in {savepoint}"
            return Acted(job, False, runs=False, reason=reason, savepoint=savepoint)
        finally:
            self._delete(jar)

    def _prepared(self, how: Options, deployment: Deployment, job: Job) -> Prepared:
        prepared = prepare_groups(self._groups(deployment), self.client, how, job)
        config = prepared.cluster.config
        if faults := list(refusals(prepared.job, config, deployment.parallelism)):
            raise ProblemError("; ".join(faults))
        return prepared

    def _groups(self, deployment: Deployment) -> Groups:
        if self.devices:
            return groups_on(deployment.hosts, self.devices, labels=True)
        return groups_anywhere(deployment.parallelism)

    def _uploaded(self, how: Options) -> str:
        return upload(self.client.server, Path(how.jar), how.limits.start_s)

    def _delete(self, jar: str | None) -> None:
        """Delete the jar if it was uploaded."""
        if jar is not None and jar != self.options.jar:
            delete(self.client.server, jar, self.options.limits.answer_s)


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

    realiser: RestartRealiser
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
        asking = Asking(self.realiser.client, self.realiser.options.limits)
        found, trigger = asking.found(latest), str(self.last["trigger"])
        if found is None or found.ended:
            return found
        if trigger:
            note, say = noting(self.record, self.realiser.say), self.realiser.say
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
            return self.realiser.go_back(self.job, savepoint, INTERRUPTED, self.record)
        return self.realiser.act(self.job, self.deployment, self.record, savepoint or None)


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


def failed(made: Restart, error: BackendError) -> Acted:
    """Return the outcome of a restart that has failed."""
    now, reason = made.progress, str(error)
    if isinstance(error, EndedByOthersError):
        return Acted(now.job, False, False, reason=reason, savepoint=now.savepoint, lost=True)
    if now.trigger or not now.running or not isinstance(error, FailedError):
        reason = f"{reason}; {made.what_runs()}"
    state = "" if now.running else now.savepoint
    stops = bool(now.trigger)
    changed = stops or not now.running or now.job != made.former.id
    return Acted(now.job, False, now.running, changed, now.down_s, reason, state, stops)
