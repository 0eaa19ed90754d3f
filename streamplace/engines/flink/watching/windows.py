"""Measurements of a Flink job: its first graph, and windows, one after another."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from streamplace.control.interfaces import Clock, LostError
from streamplace.control.load import PARTS, Parts
from streamplace.control.observation import Observation
from streamplace.control.settings import ControllerSettings
from streamplace.display.text import several
from streamplace.engines.flink.cluster import TaskManager
from streamplace.engines.flink.fit import chain_notes, fit
from streamplace.engines.flink.groups import label_names
from streamplace.engines.flink.key_groups import with_limits
from streamplace.engines.flink.poll import Watch
from streamplace.engines.flink.watching.measuring import observation
from streamplace.engines.flink.watching.sampling import PAUSE_S, Sample, Sampler
from streamplace.engines.flink.watching.slots import free_slots
from streamplace.errors import BackendError
from streamplace.formats.profiling.rest import Server
from streamplace.problem.cluster import Cluster
from streamplace.problem.counts import in_form
from streamplace.problem.graph import StreamGraph

EXACT = 16  # pauses between requests in a part, so that rates are right to some percent
SHOWN = 5  # operators that a message names, so that it stays a line


class Devices:
    """The devices that the TaskManagers of a cluster stand for.

    A TaskManager that offers the label of a device (``dev_x``) is this device. Others are
    interchangeable: each gets a device that none stands for, and keeps it while it is there.

    Parameters
    ----------
    names
        Names of all devices, as in the cluster that plans are made for.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._by_label = {label: name for name, label in label_names(names, "dev_").items()}
        self._names = list(names)
        self._taken: dict[str, str] = {}

    def update(self, task_managers: Sequence[TaskManager]) -> dict[str, str]:
        """Return TaskManager -> device; TaskManagers for which no device is left are absent."""
        found: dict[str, str] = {}
        for each in task_managers:
            offered = [name for label, name in self._by_label.items() if label in each.total.labels]
            if len(offered) == 1:
                found[each.id] = offered[0]
        rest = [each.id for each in task_managers if each.id not in found]
        kept = {id_: self._taken[id_] for id_ in rest if id_ in self._taken}
        found |= {id_: name for id_, name in kept.items() if name not in found.values()}
        left = iter([name for name in self._names if name not in found.values()])
        for id_ in rest:
            if id_ not in found and (name := next(left, None)) is not None:
                found[id_] = name
        self._taken = found
        return dict(found)


@dataclass
class Windows:
    """Observations, each from where the one before ended.

    Parameters
    ----------
    settings
        Of the controller. Windows are longer by the time that the server takes. A window whose last
        part is enough for a decision is that part.
    weights
        See `observation`.
    before
        The sample with which the next window begins; None: it is taken then.
    skew_s
        What the server's clock is ahead of this machine's, in seconds.
    check
        Called with the job's operators when they are known, until the server has answered what it
        asks; it may refuse them.
    """

    sampler: Sampler
    devices: Devices
    settings: ControllerSettings
    clock: Clock
    weights: Mapping[str, float] | None = None
    before: Sample | None = None
    skew_s: float = 0.0
    check: Callable[[Collection[str]], object] | None = None
    parts: Parts = field(init=False)

    def __post_init__(self) -> None:
        self.parts = Parts(self.settings.high)

    @property
    def window_s(self) -> float:
        """The length of a window in seconds."""
        return self.settings.window_s

    @property
    def now_s(self) -> float:
        """The time by the server's clock, in seconds since 1970."""
        return self.clock() + self.skew_s

    def set_clock(self, job: str) -> None:
        """Take the time of the server, if it answers, before the first window."""
        with suppress(BackendError):
            self.skew_s = self.sampler.now_s(job) - self.clock()

    def forget(self) -> None:
        """Let the next window begin when it is asked for, as after a change of the job."""
        self.before = None

    def next(self, job: str) -> Observation:
        """Return the next window; what the server does not answer is missing.

        Raises
        ------
        LostError
            If the job has ended.
        StreamplaceError
            Errors of `check`.
        """
        begin = now = self.before or self._tried(job)
        begun_s, self.before = self.clock(), None
        part_s = self.window_s / PARTS
        while (passed_s := self.clock() - begun_s) < self.window_s:
            self.clock.sleep(part_s - passed_s % part_s)  # a slow server leaves parts out
            last, now = now, self._tried(job)
            if self.parts.add(self._observed(last, now, begun_s, _apart(now))):
                begin = last
                break
        try:
            task_managers = self.sampler.client.task_managers()
        except BackendError as error:
            return self._observed(begin, str(error), begun_s, {})
        found = self._observed(begin, now, begun_s, self.devices.update(task_managers))
        if isinstance(now, str):
            return found
        self.before = now
        took_s = self._checkpoint_s(now, task_managers)
        rise_s2, free = self.parts.rise_s2, free_slots(task_managers)
        return replace(found, checkpoint_s=took_s, rise_s2=rise_s2, free_slots=free)

    def _observed(
        self, before: Sample | str, after: Sample | str, begun_s: float, devices: Mapping[str, str]
    ) -> Observation:
        """Return what happened between two samples, or why one of them is missing."""
        if isinstance(before, Sample) and isinstance(after, Sample):
            return observation(before, after, devices, self.weights)
        fault = after if isinstance(after, str) else before
        seconds = max(self.clock() - begun_s, self.window_s)
        return Observation(
            *(self.now_s, seconds, 0.0, {}, None, None, frozenset[str](), {}), missing=(str(fault),)
        )

    def _checkpoint_s(self, sample: Sample, task_managers: tuple[TaskManager, ...]) -> float | None:
        """Return how long the latest checkpoint took, in seconds; None if that is unknown.

        The client keeps what it reads of the job, for an action that may follow.
        """
        with suppress(BackendError):
            latest = self.sampler.client.keep(sample.job, task_managers).job.checkpoint
            return None if latest is None else latest.seconds
        return None

    def _tried(self, job: str) -> Sample | str:
        """Return a sample, or why there is none."""
        try:
            found = self.sampler.fresh(job, min(PAUSE_S, self.window_s / PARTS / EXACT))
            if self.check is not None:
                self.check(found.plan.vertex_of.keys())
                self.check = None
        except LostError:
            raise
        except BackendError as error:
            return str(error)
        self.skew_s = found.job.at_s - self.clock()
        return found


def _apart(sample: Sample | str) -> dict[str, str]:
    """Return TaskManager -> itself, for where devices do not matter, which are asked for."""
    rows = sample.subtasks.values() if isinstance(sample, Sample) else ()
    return {each.host: each.host for row in rows for each in row}


def first_graph(
    server: Server, job: str, cluster: Cluster, seconds: float, answer_s: float, seed: int = 0
) -> tuple[StreamGraph, list[str]]:
    """Return the operators and streams of a job, with numbers of instances, and notes.

    Costs are converted at the speed of the first device; they are measured anew in every window, so
    only their ratios matter. Bytes that Flink's counters do not determine are taken as 0.

    Parameters
    ----------
    seconds
        Time for which the job is measured.
    answer_s
        Time limit of an answer of the server in seconds.
    seed
        Seed of the times between readings.

    Raises
    ------
    BackendError
        If the server does not answer, or the job cannot be measured.
    UsageError
        If the server has no such job.
    """
    watched = Watch(server, job, answer_s, seed=seed).run(seconds)
    if watched.interrupted:
        raise KeyboardInterrupt
    if watched.fault:
        raise BackendError(watched.fault)
    found = fit(watched.plan, watched.readings, cluster.devices[0].mips)
    graph, notes = in_form(with_limits(found.logical, watched.logical_limits), "logical")
    return _without_unknown_bytes(graph, [*watched.notes, *chain_notes(found), *notes])


def _without_unknown_bytes(graph: StreamGraph, notes: list[str]) -> tuple[StreamGraph, list[str]]:
    payload, of_streams = graph.payload_bytes, graph.stream_payload_bytes
    unknown = {int(graph.stream_source[e]) for e in np.flatnonzero(np.isnan(of_streams))}
    names = [graph.names[v] for v in sorted(unknown)]
    known = graph.with_numbers(
        payload_bytes=np.nan_to_num(payload), stream_payload_bytes=np.nan_to_num(of_streams)
    )[0]
    if not names:
        return known, notes
    text = f"Flink's counters do not tell the bytes of {several(names, SHOWN)}; taken as 0"
    return known, [*notes, text]
