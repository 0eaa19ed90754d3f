"""Execution of a restart: stop, start, verify, and one rollback."""

import time
from collections.abc import Callable
from typing import NoReturn

from streamplace.engines.flink.applying import asking, requests
from streamplace.engines.flink.applying.asking import (
    Asking,
    EndedByOthersError,
    FailedError,
    Limits,
    Progress,
    ask_again,
    is_certain,
)
from streamplace.engines.flink.applying.requests import Program
from streamplace.engines.flink.applying.stopping import EndedError, Stopping
from streamplace.engines.flink.applying.verification import differences
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import FlinkCluster
from streamplace.engines.flink.documents import Job, last_cause
from streamplace.engines.flink.groups import Groups
from streamplace.errors import BackendError
from streamplace.formats.profiling.rest import RefusedError

MAX_ATTEMPTS = 20


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
    record
        Called with the progress whenever it has changed, before the next request.
    """

    def __init__(
        self,
        client: Client,
        job: Job,
        jar: str,
        program: Program,
        mapping: str,
        directory: str,
        limits: Limits,
        say: Callable[[str], object],
        record: Callable[[Progress], object] = lambda progress: None,
    ) -> None:
        self.client, self.former, self.jar, self.program = client, job, jar, program
        self.mapping, self.limits, self.say = mapping, limits, say
        self.progress = Progress(job.id)
        self.record = record
        self.asking = Asking(client, limits)
        self.stopping = Stopping(self.asking, directory, self.progress, say, self.note)

    def note(self) -> None:
        """Record the progress."""
        self.record(self.progress)

    def run(self, groups: Groups, savepoint: str | None) -> Progress:
        """Restart the job and return what runs.

        Parameters
        ----------
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
            fault = self._verify(groups, savepoint)
        if fault:
            self._roll_back(fault, savepoint)
        return self.progress

    def _verify(self, groups: Groups, savepoint: str) -> str:
        """Return where the started job differs from what was asked for; empty if it does not."""
        repeated, new = self.asking.repeated, self.asking.read(self.progress.job)
        hosts = self.progress.hosts = repeated(lambda: self.client.hosts(new))
        cluster = FlinkCluster({}, repeated(self.client.task_managers))
        return "; ".join(differences(groups, new, hosts, cluster, savepoint))

    def _stop(self, job: str, checkpoint_timeout_s: float) -> str:
        """Stop a job and return where its state is; the job still runs after a fault."""
        try:
            return self.stopping.stop(job, checkpoint_timeout_s)
        except EndedError as error:
            fault = f"the savepoint failed: {error}"
            self.return_to(error.checkpoint, fault)

    def _start(self, mapping: str | None, savepoint: str, rollback: bool = False) -> str:
        """Start a job, or take up one that an interrupted run started; return a fault or ""."""
        job, exists = self._free_id(savepoint, rollback)
        self.progress.job, self.progress.cancelling = job, False
        self.note()
        if exists:
            self.say(f"job {job} was started from {savepoint} before; looking how it runs")
        else:
            self.say(f"starting job {job} from {savepoint}")
            settings = self.former.checkpoint_settings
            request = requests.run(self.jar, self.program, mapping, settings, savepoint, job)
            try:
                self.asking.send(request, self.limits.start_s)
            except BackendError as error:
                if isinstance(error, RefusedError) and is_certain(error):
                    return f"Flink refuses to start it: {last_cause(error.answer) or error}"
                self.say(f"{error}; looking whether the job has started")
        return self._await_running(job, time.monotonic() + self.limits.start_s)

    def _free_id(self, savepoint: str, rollback: bool) -> tuple[str, bool]:
        """Return the id of the job to start from a savepoint, and whether it exists already."""
        for attempt in range(MAX_ATTEMPTS):
            job = requests.successor(self.former.id, savepoint, attempt, rollback)
            found = self.asking.state(job)
            if found is None or not found.ended:
                return job, found is not None
            if self.asking.read(job).stopped_at is not None:
                raise FailedError(f"job {job} went on from there and was stopped; use --job {job}")
        raise FailedError(f"{MAX_ATTEMPTS} starts from {savepoint} have failed; see Flink's pages")

    def _check_successors(self, savepoint: str) -> None:
        """Raise FailedError if an earlier run has rolled back: its job goes on."""
        for attempt in range(MAX_ATTEMPTS):
            job = requests.successor(self.former.id, savepoint, attempt, True)
            found = self.asking.state(job)
            if found is None:
                return
            if not found.ended or self.asking.read(job).stopped_at is not None:
                self.progress.job, self.progress.running = job, not found.ended
                raise FailedError(f"an earlier run rolled back to job {job}; use --job {job}")

    def _await_running(self, job: str, until: float) -> str:
        """Wait until all vertices of a job run and go on running; return a fault or ""."""
        state, since = "unknown to Flink", 0.0
        while time.monotonic() < until:
            with ask_again():
                found = self.client.state(job)
                waiting = ", ".join(found.waiting)
                state = f"{found.state}, waiting: {waiting}" if waiting else found.state
                if found.ended:
                    return f"the job is {found.state}: {self.asking.cause(job)}"
                since = (since or time.monotonic()) if found.runs else 0.0
                if since and time.monotonic() - since >= asking.SETTLE_S:
                    self._runs(since)
                    return ""
            time.sleep(asking.POLL_S)
        why = self.asking.cause(job)
        return f"not running after {self.limits.start_s:g} s ({state}{': ' if why else ''}{why})"

    def _runs(self, since: float) -> None:
        now = self.progress
        now.running = True
        now.down_s = None if now.down_since is None else since - now.down_since
        self.note()

    def _roll_back(self, fault: str, savepoint: str) -> NoReturn:
        """Start the former mapping again, from the savepoint with all state."""
        failed = self.progress.job
        self.say(f"not as placed: {fault}")
        if self.progress.running:
            timeout_s = self.former.checkpoint_timeout_s or self.limits.savepoint_s
            try:
                savepoint = self.stopping.stop(failed, timeout_s)
            except EndedError as error:
                savepoint = error.checkpoint
            except EndedByOthersError:
                raise
            except BackendError as error:
                raise FailedError(f"{fault}; no rollback: {error}") from None
        elif (found := self.asking.state(failed)) is not None and not found.ended:
            self._cancel(failed, fault)
        self.progress.savepoint, self.progress.running = savepoint, False
        self.return_to(savepoint, fault)

    def _cancel(self, failed: str, fault: str) -> None:
        """Cancel a job that does not run; only then may another one be started."""
        self.progress.cancelling = True
        self.note()
        self.progress.cancelling = False
        try:
            self.asking.send(requests.cancel(failed))
        except BackendError as error:
            self.say(f"{error}; looking whether the job is cancelled")
        try:
            self.asking.await_end(failed)
        except FailedError:
            state = self.progress.savepoint
            raise FailedError(
                f"{fault}; no rollback, since job {failed} cannot be cancelled; "
                f"all state is in {state}"
            ) from None

    def return_to(self, savepoint: str, fault: str) -> NoReturn:
        """Start the former mapping from a savepoint, or take up the job that does that already.

        Parameters
        ----------
        fault
            Why.

        Raises
        ------
        FailedError
            Always; the message says what runs.
        """
        self.progress.savepoint, self.progress.running = savepoint, False
        self.progress.rolling_back = True
        self.say("rolling back to the former mapping")
        if again := self._start(self.former.mapping, savepoint, rollback=True):
            raise FailedError(
                f"{fault}; the rollback failed too: {again}; all state is in {savepoint}"
            )
        self.progress.rolled_back = True
        raise FailedError(f"{fault}; rolled back: job {self.progress.job} runs as before")

    def running_successor(self, savepoint: str) -> str | None:
        """Return the job that an earlier run started from a savepoint and that has not ended."""
        for attempt in range(MAX_ATTEMPTS):
            job = requests.successor(self.former.id, savepoint, attempt)
            found = self.asking.state(job)
            if found is None:
                return None
            if not found.ended:
                return job
        return None

    def what_runs(self) -> str:
        """Return one sentence: what runs if the restart ends now, and where the state is."""
        now = self.progress
        if now.cancelling and now.running:
            return f"job {now.job} is being cancelled; its state is in its latest checkpoint"
        if now.trigger:
            ended = None
            with ask_again():
                ended = self.stopping.savepoint(now.job, now.trigger)
            if ended is None or not ended[0]:
                return (
                    f"job {now.job} runs; if its savepoint (trigger {now.trigger}) ends, it stops "
                    "and its state is there"
                )
            now.savepoint, now.running = ended[0], False
        if now.running:
            return f"job {now.job} runs"
        return f"all state is in {now.savepoint}, and no job may run yet"
