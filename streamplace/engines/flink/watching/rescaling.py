"""Actions through the resource requirements of the adaptive scheduler."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamplace.control.interfaces import Acted, Record
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.engines.flink.applying import asking
from streamplace.engines.flink.applying.asking import Asking, Limits, ask_again
from streamplace.engines.flink.applying.preflight import (
    faults_of_most,
    faults_of_state,
    state_of_operators,
    vertex_counts,
)
from streamplace.engines.flink.applying.requests import Request
from streamplace.engines.flink.client import Client, job_path
from streamplace.engines.flink.cluster import (
    FlinkCluster,
    TaskManager,
    faults_in_place,
    faults_of_version,
)
from streamplace.engines.flink.documents import INTERVAL, Job
from streamplace.engines.flink.watching.sampling import refusals
from streamplace.engines.flink.watching.slots import Missing, Slots, slots_of
from streamplace.errors import BackendError, ProblemError
from streamplace.formats.profiling.rest import RefusedError

REQUIRED = "required"
UNCHANGED = "nothing is changed"
Bounds = Mapping[str, tuple[int, int]]
"""Vertex -> the least and the largest number of its instances."""


@dataclass(frozen=True)
class Change:
    """A change of the numbers of instances of a job.

    Parameters
    ----------
    job
        The job as it was read before the change, or before the change goes on.
    former
        The bounds before it.
    before, wanted
        Vertex -> number of its instances, before and after.
    missing
        The slots that it needs, if some of them are missing.
    """

    job: Job
    former: Bounds
    before: Mapping[str, int]
    wanted: Mapping[str, int]
    missing: Missing | None = None

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """The bounds after it; with a larger least number, the job would stop for a lost slot."""
        return {vertex: (1, count) for vertex, count in self.wanted.items()}

    @property
    def begins_within_s(self) -> float:
        """Time within which it begins, in seconds: Flink 2 waits until a checkpoint ends."""
        latest = self.job.checkpoint
        return self.job.checkpoint_interval_s + (0.0 if latest is None else latest.seconds)


class AdaptiveRealiser:
    """Changes of the numbers of instances, which the adaptive scheduler makes without a savepoint.

    Flink chooses the devices; it goes back to its latest checkpoint by itself.
    """

    def __init__(self, client: Client, limits: Limits) -> None:
        self.client, self.limits = client, limits
        self.asking = Asking(client, limits)
        self.slots = Slots(client, limits.start_s)

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Change the numbers of instances; see `Realiser`. There is never a savepoint."""
        try:
            change = self._checked(job, deployment)
        except (BackendError, ProblemError) as error:
            return Acted(job, False, changed=False, reason=f"{UNCHANGED}: {error}")
        parts = {"former": change.former, "before": change.before, "wanted": change.wanted}
        record(REQUIRED, {"job": job, **parts})
        return self._make(change)

    def planned(self, job: str, deployment: Deployment) -> Request:
        """Return the request of an action, after the checks before it.

        Raises
        ------
        ProblemError
            If the numbers are not possible, or this job must not be changed.
        BackendError
            If the server does not answer.
        """
        change = self._checked(job, deployment)
        asked, missing = _request(job, change.bounds), change.missing
        if missing is None:
            return asked
        first = f"; of {missing.needed} slots, some are missing and must come first"
        return replace(asked, purpose=asked.purpose + first)

    def resume(
        self, job: str, deployment: Deployment, steps: Sequence[Entry], record: Record
    ) -> Acted | None:
        """Ask for the numbers once more; see `Realiser`."""
        asked = [each for each in steps if each.step == REQUIRED]
        if not asked:
            return None
        last = asked[-1].details
        former = {str(v): (int(low), int(high)) for v, (low, high) in last["former"].items()}
        wanted, before = (
            {str(v): int(count) for v, count in last[name].items()} for name in ("wanted", "before")
        )
        try:
            found, task_managers = self.client.of_step(job)
            change = Change(found, former, before, wanted)
            self.slots.asked_s = time.monotonic() - max(0.0, found.at_s - asked[-1].at_s)
            missing = self.slots.missing(found, wanted, task_managers)
        except ProblemError as error:
            return self._take_back(change, str(error))
        except BackendError as error:
            why = f"{error}; whether job {job} runs is unknown, and it is not asked for more yet"
            return Acted(job, False, runs=False, reason=why)
        return self._make(replace(change, missing=missing))

    def _make(self, change: Change) -> Acted:
        """Ask for numbers of instances, and for the former ones again if that fails."""
        if change.missing is not None and (fault := self._ask(change, change.missing)):
            return self._take_back(change, fault)
        fault, downtime_s = self._required(change, change.bounds, change.wanted)
        if not fault:
            return Acted(change.job.id, True, downtime_s=downtime_s)
        return self._take_back(change, fault, downtime_s)

    def _ask(self, change: Change, missing: Missing) -> str:
        """Ask for missing slots while the job goes on; return a fault if they do not come."""
        self.slots.asked_s = missing.begun_s
        try:
            self.asking.send(_request(change.job.id, change.bounds))
        except BackendError as error:
            return str(error)
        return self.slots.await_free(change.job.id, missing)

    def _checked(self, job: str, deployment: Deployment) -> Change:
        """Return a change after the checks before it; errors are those of `planned`."""
        found, task_managers = self.client.of_step(job)
        wanted = self._counts(found, deployment, task_managers)
        missing = self.slots.missing(found, wanted, task_managers)
        before = {vertex.id: vertex.parallelism for vertex in found.vertices.values()}
        return Change(found, self._bounds(job), before, wanted, missing)

    def _counts(
        self, job: Job, deployment: Deployment, task_managers: Sequence[TaskManager]
    ) -> dict[str, int]:
        """Return vertex -> number of its instances.

        Raises
        ------
        ProblemError
            If they are not possible, or this job must not be changed.
        """
        config = self.client.config()
        version = self.client.version()
        faults = [*faults_of_version(version), *faults_in_place(version)]
        faults += refusals(job, config, deployment.parallelism)
        if not job.is_adaptive:
            faults.append(
                "the job does not run under the adaptive scheduler, so its numbers of instances "
                "cannot be changed while it runs; set jobmanager.scheduler: adaptive"
            )
        if not job.runs:
            faults.append(f"the job does not run as a whole ({job.state})")
        faults += _faults_of_checkpoints(job)
        counts = {vertex.id: vertex.parallelism for vertex in job.vertices.values()}
        ids = {name: vertex.id for name, vertex in job.vertex_of.items()}
        chosen, wrong = vertex_counts(deployment.parallelism, ids)
        counts |= chosen
        faults += [*wrong, *faults_of_most(job, deployment.parallelism)]
        cluster = FlinkCluster(config, tuple(task_managers))
        state = self.client.state_by_vertex(job)
        operators = state_of_operators(job, deployment.parallelism, state)
        faults += faults_of_state(job, slots_of(job, counts), cluster, operators)
        if faults:
            raise ProblemError("; ".join(faults))
        return counts

    def _bounds(self, job: str) -> dict[str, tuple[int, int]]:
        """Return the present requirements."""
        path = f"{job_path(job)}/resource-requirements"

        def bounds_in(value: Any) -> dict[str, tuple[int, int]]:
            rows = {str(vertex): each["parallelism"] for vertex, each in value.items()}
            return {v: (int(row["lowerBound"]), int(row["upperBound"])) for v, row in rows.items()}

        return self.client.read(path, bounds_in)

    def _required(
        self, change: Change, bounds: Bounds, counts: Mapping[str, int]
    ) -> tuple[str, float | None]:
        """Ask for numbers of instances and wait for them; return a fault and the downtime."""
        job = change.job.id
        try:
            self.asking.send(_request(job, bounds))
        except RefusedError as error:
            if error.answer and "errors" in error.answer:
                return f"Flink refuses the numbers: {error.answer[:200]}", None
        except BackendError:
            pass  # whether Flink knows them shows below
        return self._await(job, counts, change.begins_within_s + self.limits.start_s)

    def _await(
        self, job: str, counts: Mapping[str, int], within_s: float
    ) -> tuple[str, float | None]:
        """Wait until a job runs with numbers of instances and goes on; see `_required`."""
        until = time.monotonic() + within_s
        down, since = _Gap(), None
        state = "no answer"
        while time.monotonic() < until:
            with ask_again():
                found = self.client.state(job)
                if found.ended:
                    return f"the job is {found.state}: {self.asking.cause(job)}", None
                now = {v.id: v.parallelism for v in found.vertices.values()}
                down.add(found.runs)
                names = {v.id: name for name, v in found.vertex_of.items()}
                wrong = [
                    f"{names.get(v, v)} has {now.get(v)} instead of {n} instances"
                    for v, n in counts.items()
                    if now.get(v) != n
                ]
                state = "; ".join(wrong) or found.state
                settled = found.runs and not wrong
                since = (since or time.monotonic()) if settled else None
                if since is not None and time.monotonic() - since >= asking.SETTLE_S:
                    return "", down.seconds
            time.sleep(asking.POLL_S)
        return f"not running as asked after {within_s:.3g} s ({state})", down.seconds

    def _take_back(self, change: Change, fault: str, downtime_s: float | None = None) -> Acted:
        """Ask for the former numbers again.

        A job that has not started anew since was not changed, nor will it be.
        """
        job = change.job.id
        again, _ = self._required(change, change.former, change.before)
        changed, lost = True, False  # a job that has not ended is started again by Flink
        state = "of unknown state"
        with ask_again():
            found = self.client.state(job)
            lost, state = found.ended, "running" if found.runs else f"not running ({found.state})"
            changed = bool(again) or lost or found.started_s != change.job.started_s
        if not changed:
            return Acted(job, False, changed=False, reason=f"{UNCHANGED}: {fault}")
        how = f"the rollback failed too: {again}" if again else "rolled back"
        reason = f"{fault}; {how}; job {job} is {state}"
        return Acted(job, False, not lost, downtime_s=downtime_s, reason=reason, lost=lost)


def _request(job: str, bounds: Bounds) -> Request:
    body = {
        vertex: {"parallelism": {"lowerBound": low, "upperBound": high}}
        for vertex, (low, high) in bounds.items()
    }
    path = f"{job_path(job)}/resource-requirements"
    return Request("PUT", path, body, "change the numbers of instances")


@dataclass
class _Gap:
    """The time during which a job does not run, as far as it is noticed."""

    since: float | None = None
    seconds: float | None = None

    def add(self, runs: bool) -> None:
        now = time.monotonic()
        if not runs and self.since is None:
            self.since = now
        elif runs and self.since is not None:
            self.seconds = (self.seconds or 0.0) + now - self.since
            self.since = None


def _faults_of_checkpoints(job: Job) -> Iterator[str]:
    """Yield why Flink, which goes back to the latest checkpoint, would lose state or repeat much.

    A checkpoint older than the time in which the next one should have ended shows that they fail.
    """
    timeout_s, latest = job.checkpoint_timeout_s, job.checkpoint
    if timeout_s is None:
        yield "the job has no checkpoints, so its state would be lost; set " + INTERVAL
    elif latest is None:
        yield "the job has not completed a checkpoint yet, to which it could go back"
    elif latest.age_s > (most_s := latest.seconds + job.checkpoint_interval_s + timeout_s):
        yield (
            f"its latest checkpoint is {latest.age_s:.0f} s old, although a new one is due after "
            f"{most_s:.0f} s at most; all since then would be processed again"
        )
