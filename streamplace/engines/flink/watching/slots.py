"""Slots that a change in place needs, and for how long Flink is asked for missing ones."""

import time
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from streamplace.control.observation import slots_by_group
from streamplace.engines.flink.applying import asking
from streamplace.engines.flink.applying.asking import ask_again
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import TaskManager, seconds_of
from streamplace.engines.flink.documents import JobState
from streamplace.errors import ProblemError, UsageError

MAKES_DO = "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout"
MAKES_DO_AFTER = "60 s"  # Flink's default
PATIENT = 2  # the first version of Flink that waits for slots while a job runs
WAITS = 0.75  # of that time


class Missing(NamedTuple):
    """Slots that a job needs, some of which are missing.

    Attributes
    ----------
    begun_s
        When Flink begins to wait for them, by `time.monotonic`: its time goes on if it is asked for
        the former numbers and then for others again.
    waits_s
        For how long they may be waited for, in seconds.
    """

    needed: int
    begun_s: float
    waits_s: float


class Slots:
    """The slots of a cluster, and those that Flink was asked for.

    Flink itself asks its resource manager for missing slots once it knows the numbers of instances,
    and changes the job when they are there. After a time, it would make do with fewer: before that,
    the former numbers must be asked for again. Flink 1 makes do with fewer at once.

    Parameters
    ----------
    most_s
        Longest time to wait for slots, in seconds.

    Attributes
    ----------
    asked_s
        When Flink was asked for slots that have not come, by `time.monotonic`; minus infinity: it
        was not.
    """

    def __init__(self, client: Client, most_s: float) -> None:
        self._client, self._most_s = client, most_s
        self.asked_s = -inf

    def missing(
        self, job: JobState, counts: Mapping[str, int], task_managers: Sequence[TaskManager]
    ) -> Missing | None:
        """Return the slots that a job needs if some of them are missing; None if none is.

        Raises
        ------
        ProblemError
            If Flink would make do with fewer at once, or too soon to ask it for them.
        BackendError
            If the server does not answer.
        """
        before = {vertex.id: vertex.parallelism for vertex in job.vertices.values()}
        needed, free = slots_of(job, counts), free_slots(task_managers) + slots_of(job, before)
        if needed > free:  # it may hold more slots than it uses
            free = self._free_for(job.id)
        if needed <= free:
            return None
        short = f"{needed} slots are needed, but only {free} are free or held by it"
        try:
            makes_do_after_s = self._makes_do_after_s()
            now_s = time.monotonic()
            begun_s = self.asked_s if now_s - self.asked_s < makes_do_after_s else now_s
            waits_s = min(begun_s + WAITS * makes_do_after_s - now_s, self._most_s)
            if waits_s <= 0.0:
                raise ProblemError("the time that Flink waits for others is nearly over")
        except ProblemError as error:
            raise ProblemError(f"{short}, and {error}") from None
        return Missing(needed, begun_s, waits_s)

    def _makes_do_after_s(self) -> float:
        """Return the time after which Flink makes do with fewer slots, in seconds."""
        if int((version := self._client.version()).partition(".")[0]) < PATIENT:
            raise ProblemError(f"Flink {version} does not wait for others while a job runs")
        stated = self._client.config().get(MAKES_DO, MAKES_DO_AFTER)
        try:
            after_s = seconds_of(stated)
        except UsageError as error:
            raise ProblemError(f"{MAKES_DO}: {error}") from None
        if after_s == 0.0:
            raise ProblemError(f"Flink does not wait for others ({MAKES_DO}: {stated})")
        return after_s

    def await_free(self, job: str, missing: Missing) -> str:
        """Wait for slots that Flink is asked for; return a fault if they do not come."""
        until, free = time.monotonic() + missing.waits_s, 0
        while time.monotonic() < until:
            with ask_again():
                free = self._free_for(job)
                if free >= missing.needed:
                    self.asked_s = -inf
                    return ""
            time.sleep(asking.POLL_S)
        return (
            f"{missing.needed} slots are needed, but only {free} are free or held by it, and no "
            f"others came within {missing.waits_s:g} s of asking for them"
        )

    def _free_for(self, job: str) -> int:
        return free_slots(self._client.cluster(job).task_managers)


def slots_of(job: JobState, counts: Mapping[str, int]) -> int:
    """Return the slots that a job needs; see `slots_by_group`.

    Parameters
    ----------
    counts
        Vertex -> number of its instances.
    """
    groups = {vertex.id: vertex.group for vertex in job.vertices.values()}
    return sum(slots_by_group(counts, groups).values())


def free_slots(task_managers: Sequence[TaskManager]) -> int:
    """Return the free slots of all TaskManagers."""
    return sum(each.free_slots for each in task_managers)
