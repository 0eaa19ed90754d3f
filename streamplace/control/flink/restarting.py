"""Actions by a restart from a savepoint."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from streamplace.control.entries import Entry
from streamplace.control.flink.acting import Acted, Record
from streamplace.control.flink.refusals import refusals
from streamplace.control.flink.resuming import PROGRESS, Resuming, forgotten, noting
from streamplace.control.plans import Deployment
from streamplace.errors import BackendError, ProblemError, UsageError
from streamplace.integrations.flink.applying.asking import Asking
from streamplace.integrations.flink.applying.documents import ENDED, Cluster, read_cluster, read_job
from streamplace.integrations.flink.applying.progress import (
    EndedByOthersError,
    FailedError,
)
from streamplace.integrations.flink.applying.restart import Restart
from streamplace.integrations.flink.groups import Groups, groups_anywhere, groups_on
from streamplace.integrations.profiling.rest import Server
from streamplace.workflows.apply import (
    Options,
    Prepared,
    check_jar,
    delete,
    prepare_groups,
    restart_of,
    upload,
)


class RestartBackend:
    """Restarts: a savepoint stops the job, and the jar runs from it with another mapping.

    Parameters
    ----------
    options
        The jar and how it is started; their job is ignored.
    labels
        Whether instances are pinned to devices by labels. Otherwise only numbers of instances are
        set, and Flink chooses the slots.
    say
        Called with each line of progress.
    """

    def __init__(
        self, server: Server, options: Options, labels: bool, say: Callable[[str], object]
    ) -> None:
        self.server, self.options, self.labels, self.say = server, options, labels, say

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Restart a job; see `Backend`."""
        how = replace(self.options, job=job, savepoint=savepoint)
        jar = None
        try:
            if savepoint is None and (state := self._state(job)) in ENDED:
                reason = f"job {job} is {state}, and this controller did not stop it"
                return Acted(job, False, False, False, reason=reason, lost=True)
            prepared = self._prepared(how, deployment)
            jar = prepared.jar or self._uploaded(how)
            check_jar(prepared, self.server, how, jar)
        except (BackendError, ProblemError, UsageError, OSError) as error:
            self._delete(jar)
            if savepoint is None:
                return Acted(job, False, changed=False, reason=f"nothing is changed: {error}")
            return self.go_back(job, savepoint, str(error), record)
        made = restart_of(prepared, self.server, how, jar, self.say, noting(record, self.say))
        try:
            made.run(prepared.groups, self._cluster, prepared.savepoint)
        except BackendError as error:
            return failed(made, error)
        finally:
            self._delete(jar)
        return Acted(made.progress.job, True, downtime_s=made.progress.down_s)

    def resume(
        self, job: str, deployment: Deployment, steps: Sequence[Entry], record: Record
    ) -> Acted | None:
        """Go on with a restart that was interrupted; see `Backend`."""
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
            former = Asking(self.server, how.limits).found(job)
            if former is None:
                return forgotten(job, savepoint)
            jar = how.jar if not Path(how.jar).is_file() else self._uploaded(how)
            made = Restart(
                *(self.server, former, jar, how.program, "", "", how.limits),
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

    def _prepared(self, how: Options, deployment: Deployment) -> Prepared:
        prepared = prepare_groups(self._groups(deployment), self.server, how)
        if faults := list(refusals(prepared.job, prepared.cluster, deployment.parallelism)):
            raise ProblemError("; ".join(faults))
        return prepared

    def _groups(self, deployment: Deployment) -> Groups:
        if self.labels:
            return groups_on(deployment.hosts, sorted(deployment.devices), labels=True)
        return groups_anywhere(deployment.parallelism)

    def _state(self, job: str) -> str:
        return read_job(self.server, job, self.options.limits.answer_s).state

    def _cluster(self, job: str) -> Cluster:
        return read_cluster(self.server, job, self.options.limits.answer_s)

    def _uploaded(self, how: Options) -> str:
        return upload(self.server, Path(how.jar), how.limits.start_s)

    def _delete(self, jar: str | None) -> None:
        """Delete the jar if it was uploaded."""
        if jar is not None and jar != self.options.jar:
            delete(self.server, jar, self.options.limits.answer_s)


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
