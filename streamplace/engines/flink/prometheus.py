"""The counters of a running Flink job that a Prometheus has already.

Flink's PrometheusReporter names metrics after their scope, such as
``flink_taskmanager_job_task_numRecordsIn``, with a series per instance. Samples are read as they
were scraped (a range selector, ``[600s]``), since ``query_range`` would repeat older samples at
times of its own.
"""

import json
import re
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from streamplace.engines.flink.documents import (
    MAX_COUNTER,
    MAX_NAME,
    OPERATOR_METRICS,
    expecting,
)
from streamplace.engines.flink.plan import RunningPlan, Vertex
from streamplace.engines.flink.poll import NOWHERE, Watched
from streamplace.errors import BackendError, UsageError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm
from streamplace.formats.profiling.counters import Counters, Reading, total
from streamplace.formats.profiling.rest import GoneError, RefusedError, Server
from streamplace.problem.graph_checks import listed
from streamplace.util.arrays import Floats

QUERY = "/api/v1/query"
TASK = "flink_taskmanager_job_task_"
OPERATOR = f"{TASK}operator_"
COUNTERS = {
    "records_in": "numRecordsIn",
    "records_out": "numRecordsOut",
    "bytes_in": "numBytesIn",
    "bytes_out": "numBytesOut",
    "busy_ms": "accumulateBusyTimeMs",
    "idle_ms": "accumulateIdleTimeMs",
    "backpressured_ms": "accumulateBackPressuredTimeMs",
}
"""Counter -> its metric of a task."""
SAMPLED = {
    "busy_ms": "busyTimeMsPerSecond",
    "idle_ms": "idleTimeMsPerSecond",
    "backpressured_ms": "backPressuredTimeMsPerSecond",
}
"""Time -> the metric of its last second, which counts where the accumulated time is missing."""
JOBS = f"count by (job_id, job_name) ({TASK}numRecordsIn)"
FEWEST = 2  # samples of a series that can be used
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)


class SeriesForm(ForeignForm):
    """A series, or a number per group of series."""

    metric: dict[str, str]
    values: list[list[Any]] = Field([])


class DataForm(ForeignForm):
    """What was found."""

    result: list[SeriesForm]


class AnswerForm(ForeignForm):
    """An answer to a query."""

    data: DataForm


class Series(NamedTuple):
    """A counter of one instance: the times (n,) of its samples in seconds, and their values."""

    labels: Mapping[str, str]
    times: Floats
    values: Floats


class Key(NamedTuple):
    """The instance that a series belongs to; `operator` is empty for metrics of tasks."""

    task: str
    operator: str
    subtask: str


class Prometheus:
    """Flink's metrics in a Prometheus.

    All methods raise BackendError if the server does not answer, or in another format.

    Parameters
    ----------
    within_s
        Time limit of an answer in seconds.
    """

    def __init__(self, server: Server, within_s: float) -> None:
        self.server, self.within_s = server, within_s

    def job(self, named: str | None) -> str:
        """Return the id of the only job that has metrics now, unless the user has named one.

        Raises
        ------
        UsageError
            If none or several have.
        """
        return named if named is not None else self._only(self._query(JOBS))

    def watched(self, job: str, plan: RunningPlan, seconds: float) -> tuple[Watched, list[str]]:
        """Return what the last seconds show of a job, and notes.

        Raises
        ------
        UsageError
            If there are no metrics of the vertices of the plan.
        """
        selector = f"{{job_id={json.dumps(job, ensure_ascii=False)}}}[{max(round(seconds), 1)}s]"

        def read(metric: str, of: Callable[[Series], Series] = since_start) -> dict[Key, Series]:
            found = self._query(metric + selector)
            with self._expecting():
                return {key: of(series) for key, series in latest(found).items()}

        tasks = {name: read(TASK + metric) for name, metric in COUNTERS.items()}
        notes = []
        for name, metric in SAMPLED.items():
            if not tasks[name] and (found := read(TASK + metric, accumulated)):
                tasks[name] = found
                notes.append(
                    f"Prometheus has no {COUNTERS[name]}, so {metric} counts, which is a sample of "
                    "one second: costs are less precise"
                )
        operators = {name: read(OPERATOR + each) for name, each in OPERATOR_METRICS.items()}
        known = {key for each in tasks.values() for key in each}
        if not {(key.task, key.subtask) for key in known} & _instances(plan):
            raise UsageError(self._without_metrics(job, known, seconds))
        return _Read(plan, tasks, operators).watched(), notes

    def _without_metrics(self, job: str, known: Collection[Key], seconds: float) -> str:
        of_labels = (("task_id", "task"), ("subtask_index", "subtask"))
        lacking = [label for label, of in of_labels if not any(getattr(k, of) for k in known)]
        if known and lacking:
            return (
                f"{self.server.url}: the series of job {job!r:.80} have no label "
                f"{' and no '.join(lacking)}, which Flink's reporter writes; keep it in relabelings"
            )
        if known:
            return f"{self.server.url}: the plan has none of the vertices of job {job!r:.80}"
        jobs = _jobs_in_words(self._query(JOBS))
        which = f"it has those of {listed(jobs)}" if jobs else f"it has none of {TASK}…"
        return (
            f"{self.server.url}: no metrics of job {job!r:.80} in the last {seconds:g} s; {which}"
        )

    def _only(self, found: Sequence[SeriesForm]) -> str:
        if len(found) == 1 and "job_id" in found[0].metric:
            return found[0].metric["job_id"]
        which = (
            f"several jobs have metrics: {', '.join(_jobs_in_words(found))}"
            if found
            else f"no job has metrics ({TASK}…)"
        )
        raise UsageError(f"{self.server.url}: {which}; set --job ID")

    def _query(self, query: str) -> list[SeriesForm]:
        path = f"{QUERY}?query={urllib.parse.quote(query, safe='')}"
        try:
            value = self.server.get(path, self.within_s)
        except GoneError as error:
            raise BackendError(str(error)) from None
        except RefusedError as error:
            raise BackendError(f"{error}: {error.answer:.200}") from None
        with self._expecting():
            return check(AnswerForm, value, f"{self.server.url}{QUERY}").data.result

    def _expecting(self) -> AbstractContextManager[None]:
        return expecting(f"{self.server.url}{QUERY}", "Prometheus")


def _jobs_in_words(found: Sequence[SeriesForm]) -> list[str]:
    """Return jobs such as ``4f2a (count)``."""
    rows = [each.metric for each in found]
    return sorted(f"{row.get('job_id', '?')} ({row.get('job_name', '?')})" for row in rows)


def latest(found: Sequence[SeriesForm]) -> dict[Key, Series]:
    """Return the series of each instance: that of its latest attempt, and one of equal ones.

    A Pushgateway goes on with the last samples of a TaskManager that was lost, so that the number
    of the attempt counts where series end at the same time.
    """
    kept: dict[Key, Series] = {}
    for form in found:
        of = form.metric.get
        key = Key(of("task_id", ""), of("operator_name", ""), of("subtask_index", ""))
        series = _samples(form)
        if len(series.times) and (key not in kept or _age(series) > _age(kept[key])):
            kept[key] = series
    return kept


def _instances(plan: RunningPlan) -> set[tuple[str, str]]:
    """Return the vertex and the number of each instance that a plan has."""
    return {(vertex.id, str(i)) for vertex in plan.vertices for i in range(vertex.parallelism)}


def _age(series: Series) -> tuple[float, int]:
    attempt = series.labels.get("task_attempt_num", "")
    return float(series.times[-1]), int(attempt) if _COUNT.fullmatch(attempt) else 0


def _samples(form: SeriesForm) -> Series:
    rows = np.array([(float(at), _number(text)) for at, text in form.values]).reshape(-1, 2)
    rows = rows[np.isfinite(rows).all(axis=1)]
    if not (np.diff(rows[:, 0]) > 0).all():
        raise ValueError("the times of samples do not grow")
    return Series(form.metric, rows[:, 0], rows[:, 1])


def _number(text: str) -> float:
    value = float(text)
    return value if 0 <= value <= MAX_COUNTER else np.nan


def since_start(series: Series) -> Series:
    """Return the samples of a counter since it fell, if it did: its instance started again."""
    falls = np.flatnonzero(np.diff(series.values) < 0)
    first = falls[-1] + 1 if len(falls) else 0
    return series._replace(times=series.times[first:], values=series.values[first:])


def accumulated(series: Series) -> Series:
    """Return the milliseconds since the first sample, from milliseconds per second."""
    grown = np.diff(series.times) * (series.values[1:] + series.values[:-1]) / 2
    return series._replace(values=np.concatenate(([0.0], np.cumsum(grown))))


def labels_of(name: str) -> tuple[str, ...]:
    """Return the labels by which a reporter may call an operator; Flink shortens long names."""
    return name[:MAX_NAME], re.sub(r"[^a-zA-Z0-9:_]", "_", name[:MAX_NAME])


@dataclass(frozen=True)
class _Read:
    """Counter -> its series, of tasks and of operators, for the vertices of a plan."""

    plan: RunningPlan
    tasks: Mapping[str, Mapping[Key, Series]]
    operators: Mapping[str, Mapping[Key, Series]]

    def watched(self) -> Watched:
        """Return readings at common times, and what each instance counted first and last."""
        times = self._times()
        readings = [self._reading(float(at)) for at in times]
        found = Watched(self.plan, readings=readings)
        found.subtasks = {vertex.id: self._row(vertex, times[:1]) for vertex in self.plan.vertices}
        found.last = {vertex.id: self._row(vertex, times[-1:]) for vertex in self.plan.vertices}
        for hosts in found.hosts.values():
            for host in {*hosts} - {NOWHERE}:  # instances of one vertex never share a slot
                most = max(found.task_managers.get(host, 0), hosts.count(host))
                found.task_managers[host] = most
        return found

    def _times(self) -> Floats:
        """Return the times between which all series have samples: those of the sparsest one.

        Instances that the plan does not have any more do not count.
        """
        instances = _instances(self.plan)
        every = [
            series
            for counters in (self.tasks, self.operators)
            for found in counters.values()
            for key, series in found.items()
            if (key.task, key.subtask) in instances
        ]
        begin = max(series.times[0] for series in every)
        end = min(series.times[-1] for series in every)
        within = [each.times[(each.times >= begin) & (each.times <= end)] for each in every]
        fewest = min(within, key=len)
        found: Floats = fewest if len(fewest) >= FEWEST else fewest[:0]
        return found

    def _reading(self, at: float) -> Reading:
        operators = {}
        for vertex in self.plan.vertices:
            for operator, label in self._labels(vertex).items():
                rows = [
                    _counters(self.operators, Key(vertex.id, label, str(i)), at)
                    for i in range(vertex.parallelism)
                ]
                operators[operator] = total(rows)
        vertices = {
            vertex.id: total([each for _, each in self._row(vertex, [at])])
            for vertex in self.plan.vertices
        }
        return Reading(at, vertices, operators)

    def _row(self, vertex: Vertex, at: Sequence[float] | Floats) -> list[tuple[str, Counters]]:
        """Return the TaskManager of each instance of a vertex, and its counters at a time."""
        found = []
        for i in range(vertex.parallelism):
            key = Key(vertex.id, "", str(i))
            series = self.tasks["records_in"].get(key)
            host = NOWHERE if series is None else series.labels.get("tm_id", NOWHERE)
            counted = _counters(self.tasks, key, float(at[0])) if len(at) else Counters()
            found.append((host, counted))
        return found

    def _labels(self, vertex: Vertex) -> dict[str, str]:
        """Return operator -> its label, for those that no other operator of the vertex shares."""
        present = {key.operator for each in self.operators.values() for key in each}
        labels = {
            operator: next((label for label in labels_of(name) if label in present), "")
            for operator, name in zip(vertex.operators, vertex.chain.names, strict=True)
        }
        several = [*labels.values()]
        return {name: label for name, label in labels.items() if several.count(label) == 1}


def _counters(of: Mapping[str, Mapping[Key, Series]], key: Key, at: float) -> Counters:
    """Return the counters of an instance at a time, between two samples in proportion."""
    values = {}
    for name, found in of.items():
        if (series := found.get(key)) is not None:
            values[name] = float(np.interp(at, series.times, series.values))
    return Counters(**values)
