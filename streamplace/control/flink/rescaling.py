"""Actions through the resource requirements of the adaptive scheduler."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from streamplace.control.flink.sampling import refusals
from streamplace.control.interfaces import Acted, Record
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.errors import BackendError, ProblemError, UsageError
from streamplace.integrations.flink.applying import asking
from streamplace.integrations.flink.applying.asking import Asking, Limits, retried
from streamplace.integrations.flink.applying.preflight import (
    faults_of_most,
    faults_of_state,
    vertex_counts,
)
from streamplace.integrations.flink.applying.requests import Request
from streamplace.integrations.flink.client import Client, job_path
from streamplace.integrations.flink.cluster import FlinkCluster, TaskManager
from streamplace.integrations.flink.documents import INTERVAL, Job
from streamplace.integrations.flink.durations import seconds_of
from streamplace.integrations.profiling.rest import RefusedError

REQUIRED = "required"
UNCHANGED = "nothing is changed"
MAKES_DO = "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout"
MAKES_DO_AFTER = "60 s"  # Flink's default
PATIENT = 2  # the first version of Flink that waits for slots while a job runs
WAITS = 0.75  # of that time
Bounds = Mapping[str, tuple[int, int]]
"""Vertex -> the least and the largest number of its instances."""


class AdaptiveRealiser:
    """Changes of the numbers of instances, which the adaptive scheduler makes without a savepoint.

    Flink chooses the devices; it goes back to its latest checkpoint by itself.
    """

    def __init__(self, client: Client, limits: Limits) -> None:
        self.client, self.limits = client, limits
        self.asking = Asking(client, limits)
        self._asked_s = -inf

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Change the numbers of instances; see `Realiser`. There is never a savepoint."""
        try:
            found, task_managers = self.client.of_step(job)
            counts = self._checked(found, deployment, task_managers)
            needed = self._missing(found, counts, task_managers)
            former = self._bounds(job)
        except (BackendError, ProblemError) as error:
            return Acted(job, False, changed=False, reason=f"{UNCHANGED}: {error}")
        before = {vertex.id: vertex.parallelism for vertex in found.vertices.values()}
        record(REQUIRED, {"job": job, "former": former, "before": before, "wanted": counts})
        return self._change(job, counts, former, before, needed)

    def planned(self, job: str, deployment: Deployment) -> Request:
        """Return the request of an action, after the checks before it.

        Raises
        ------
        ProblemError
            If the numbers are not possible, or this job must not be changed.
        BackendError
            If the server does not answer.
        """
        found, task_managers = self.client.of_step(job)
        counts = self._checked(found, deployment, task_managers)
        needed = self._missing(found, counts, task_managers)
        missing = f"; of {needed} slots, some are missing and must come first" if needed else ""
        asked = _request(job, {vertex: (1, count) for vertex, count in counts.items()})
        return replace(asked, purpose=asked.purpose + missing)

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
            needed = self._missing(found, wanted, task_managers)
        except BackendError as error:
            why = f"{error}; whether job {job} runs is unknown, and it is not asked for more yet"
            return Acted(job, False, runs=False, reason=why)
        self._asked_s = time.monotonic() - max(time.time() - asked[-1].at_s, 0.0)
        return self._change(job, wanted, former, before, needed)

    def _change(
        self,
        job: str,
        counts: Mapping[str, int],
        former: Bounds,
        before: Mapping[str, int],
        needed: int,
    ) -> Acted:
        """Ask for numbers of instances, and for the former ones again if that fails.

        Parameters
        ----------
        needed
            Slots, if some of them are missing; 0: none is.
        """
        if needed and (fault := self._ask(job, counts, needed)):
            changed = self._has_changed(job, before)
            why = fault if changed else f"{UNCHANGED}: {fault}"
            return self._back(job, former, before, why, None, changed=changed)
        wanted = {vertex: (1, count) for vertex, count in counts.items()}
        fault, downtime_s = self._required(job, wanted, counts)
        if not fault:
            return Acted(job, True, downtime_s=downtime_s)
        return self._back(job, former, before, fault, downtime_s)

    def _missing(
        self, job: Job, counts: Mapping[str, int], task_managers: Sequence[TaskManager]
    ) -> int:
        """Return the slots that the job needs if some of them are missing; 0 if none is."""
        before = {vertex.id: vertex.parallelism for vertex in job.vertices.values()}
        needed, free = _slots(job, counts), _free(task_managers) + _slots(job, before)
        if needed > free:  # it may hold more slots than it uses
            free = _free(self.client.cluster(job.id).task_managers)
        return needed if needed > free else 0

    def _ask(self, job: str, counts: Mapping[str, int], needed: int) -> str:
        """Ask for missing slots while the job goes on; return a fault if they do not come.

        Flink itself asks its resource manager for them once it knows the numbers of instances, and
        changes the job when they are there. After a time, it would make do with fewer: before that,
        the former numbers must be asked for again. Flink 1 makes do with fewer at once.
        """
        short, free = f"{needed} slots are needed, but some are missing", 0
        try:
            if int((version := self.client.version()).partition(".")[0]) < PATIENT:
                return f"{short}, and Flink {version} does not wait for them while a job runs"
            waits_s = self._patience_s()
            if waits_s <= 0.0:
                return f"{short}, and the time that Flink waits for them is nearly over"
            until = time.monotonic() + waits_s
            self.asking.send(_request(job, {v: (1, count) for v, count in counts.items()}))
        except BackendError as error:
            return str(error)
        except UsageError as error:
            return f"{short}; {MAKES_DO}: {error}"
        while time.monotonic() < until:
            with retried():
                free = _free(self.client.cluster(job).task_managers)
                if free >= needed:
                    self._asked_s = -inf
                    return ""
            time.sleep(asking.POLL_S)
        return (
            f"{needed} slots are needed, but only {free} are free or held by it, and no others "
            f"came within {waits_s:g} s of asking for them"
        )

    def _patience_s(self) -> float:
        """Return for how long to wait for slots, in seconds.

        Flink's own time goes on if it is asked for the former numbers and then for others again.
        """
        makes_do_after_s = seconds_of(self.client.config().get(MAKES_DO, MAKES_DO_AFTER))
        now_s = time.monotonic()
        if now_s - self._asked_s >= makes_do_after_s:
            self._asked_s = now_s
        return min(self._asked_s + WAITS * makes_do_after_s - now_s, self.limits.start_s)

    def _has_changed(self, job: str, before: Mapping[str, int]) -> bool:
        """Return whether Flink has made do with fewer slots already, or may have."""
        with retried():
            vertices = self.client.state(job).vertices.values()
            return {vertex.id: vertex.parallelism for vertex in vertices} != before
        return True

    def _checked(
        self, job: Job, deployment: Deployment, task_managers: Sequence[TaskManager]
    ) -> dict[str, int]:
        """Return vertex -> number of its instances.

        Raises
        ------
        ProblemError
            If they are not possible, or this job must not be changed.
        """
        config = self.client.config()
        faults = list(refusals(job, config, deployment.parallelism))
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
        cluster, state = (
            FlinkCluster(config, tuple(task_managers)),
            self.client.state_by_vertex(job),
        )
        parts = {name: (state.get(v, 0.0), counts[v]) for name, v in ids.items()}
        faults += faults_of_state(job, _slots(job, counts), cluster, parts)
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
        self, job: str, bounds: Bounds, counts: Mapping[str, int]
    ) -> tuple[str, float | None]:
        """Ask for numbers of instances and wait for them; return a fault and the downtime."""
        try:
            self.asking.send(_request(job, bounds))
        except RefusedError as error:
            if error.answer and "errors" in error.answer:
                return f"Flink refuses the numbers: {error.answer[:200]}", None
        except BackendError:
            pass  # whether Flink knows them shows below
        return self._await(job, counts)

    def _await(self, job: str, counts: Mapping[str, int]) -> tuple[str, float | None]:
        """Wait until a job runs with numbers of instances and goes on; see `_required`."""
        until = time.monotonic() + self.limits.start_s
        down, since = _Gap(), None
        state = "no answer"
        while time.monotonic() < until:
            with retried():
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
        return f"not running as asked after {self.limits.start_s:g} s ({state})", down.seconds

    def _back(
        self,
        job: str,
        former: Bounds,
        counts: Mapping[str, int],
        fault: str,
        downtime_s: float | None,
        *,
        changed: bool = True,
    ) -> Acted:
        """Ask for the former numbers again.

        Parameters
        ----------
        changed
            Whether the job may have changed, if this succeeds.
        """
        again, _ = self._required(job, former, counts)
        lost = False  # a job that has not ended is started again by Flink
        state = "of unknown state"
        with retried():
            found = self.client.state(job)
            lost, state = found.ended, "running" if found.runs else f"not running ({found.state})"
        how = f"the rollback failed too: {again}" if again else "rolled back"
        reason = f"{fault}; {how}; job {job} is {state}"
        return Acted(
            job,
            False,
            runs=not lost,
            changed=changed or bool(again),
            downtime_s=downtime_s,
            reason=reason,
            lost=lost,
        )


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


def _free(task_managers: Sequence[TaskManager]) -> int:
    return sum(each.free_slots for each in task_managers)


def _slots(job: Job, counts: Mapping[str, int]) -> int:
    """Return the slots that a job needs: each slot-sharing group as many as its largest vertex."""
    groups: dict[str, int] = {}
    for vertex in job.vertices.values():
        groups[vertex.group] = max(groups.get(vertex.group, 0), counts[vertex.id])
    return sum(groups.values())
