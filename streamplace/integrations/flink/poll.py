"""Watching a running job of Flink: its plan, where it runs, and its counters every second."""

import random
import time
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from streamplace.errors import BackendError, FormatError, GraphError, located
from streamplace.integrations.flink.plan import RunningPlan, Vertex, running
from streamplace.integrations.profiling.counters import Counters, Reading
from streamplace.integrations.profiling.rest import GoneError, Server
from streamplace.problem.logical import LogicalGraph

EVERY_S = 1.0
NOWHERE = "(unassigned)"  # the TaskManager of a subtask that runs on none
LONGEST_QUERY = 3000  # bytes: Flink refuses requests whose first line is above 4096
LONGEST_NAME = 80  # of an operator in a metric's name
UNFIT = str.maketrans(" .:,", "____")  # what Flink does to such names
TASK = {
    "records_in": "read-records",
    "records_out": "write-records",
    "bytes_in": "read-bytes",
    "bytes_out": "write-bytes",
    "busy_ms": "accumulated-busy-time",
    "idle_ms": "accumulated-idle-time",
    "backpressured_ms": "accumulated-backpressured-time",
}
TUPLES_AND_BYTES = ("records_in", "records_out", "bytes_in", "bytes_out")
COMPLETE = [f"{TASK[name]}-complete" for name in TUPLES_AND_BYTES]
MOST = 2**63
"""Of what Flink counts, and of milliseconds: its integers have 64 bits."""
OWN = {"records_in": "numRecordsIn", "records_out": "numRecordsOut"}


@dataclass
class Watched:
    """What was seen of a job.

    Parameters
    ----------
    hosts
        Vertex id -> the TaskManager of each of its subtasks.
    task_managers
        Id -> its slots, also of those that run nothing.
    fault
        What ended it early; empty if nothing did.
    interrupted
        Whether an interrupt did.
    """

    plan: RunningPlan
    hosts: dict[str, list[str]] = field(default_factory=dict)
    task_managers: dict[str, int] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    fault: str = ""
    interrupted: bool = False


class Watch:
    """Questions about one job.

    Parameters
    ----------
    timeout_s
        In which the server must have told the plan, then where it runs, then each reading.
    every_s
        From one reading to the next, on average (see `uneven`); also before asking again.
    seed
        Of when readings come.
    """

    def __init__(
        self, server: Server, job: str, timeout_s: float, every_s: float = EVERY_S, seed: int = 0
    ) -> None:
        self.server = server
        self.every_s = every_s
        self.job = f"/jobs/{urllib.parse.quote(job, safe='')}"
        self.timeout_s = timeout_s
        self._uneven = uneven(seed)
        self._until = 0.0

    def run(
        self, seconds: float, check: Callable[[LogicalGraph], object] = lambda job: None
    ) -> Watched:
        """Watch for some seconds; whatever goes wrong once the plan is known is told in `fault`.

        An interrupt ends it early too: what was read until then is returned.

        Parameters
        ----------
        check
            May raise what is wrong with the job before the watching begins.

        Raises
        ------
        BackendError
            If the plan cannot be had.
        """
        self._begin()
        watched = Watched(self._plan())
        check(watched.plan.job)
        try:
            self._begin()
            self._where(watched)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                began = self._begin()
                watched.readings.append(self._reading(watched.plan))
                following = began + self.every_s * next(self._uneven)
                time.sleep(max(min(following, until) - time.monotonic(), 0.0))
        except BackendError as error:
            watched.fault = str(error)
        except KeyboardInterrupt:
            watched.interrupted = True
        return watched

    def _plan(self) -> RunningPlan:
        path = f"{self.job}/plan"
        value = self._ask(path)
        with _of(self.server.url + path):
            plan = value["plan"] if isinstance(value, dict) else None
            return running(plan, self.server.url + path)

    def _where(self, watched: Watched) -> None:
        for vertex in watched.plan.vertices:
            path = f"{self.job}/vertices/{urllib.parse.quote(vertex.id, safe='')}"
            value = self._ask(path)
            with _of(self.server.url + path):
                subtasks = sorted(value["subtasks"], key=lambda task: int(task["subtask"]))
                watched.hosts[vertex.id] = [str(task["taskmanager-id"]) for task in subtasks]
        value = self._ask("/taskmanagers")
        with _of(f"{self.server.url}/taskmanagers"):
            watched.task_managers = {
                str(each["id"]): int(each["slotsNumber"]) for each in value["taskmanagers"]
            }

    def _reading(self, plan: RunningPlan) -> Reading:
        value = self._ask(self.job)
        with _of(self.server.url + self.job):
            state = str(value["state"])
            if state != "RUNNING":
                raise GoneError(f"{self.server.url}: the job is {state}")
            told = {vertex["id"]: counters(vertex["metrics"]) for vertex in value["vertices"]}
            vertices = {v.id: told.get(v.id, Counters()) for v in plan.vertices}
            at_s = _time_s(value["now"])
        operators: dict[str, Counters] = {}
        graph = plan.job.graph
        sources = {graph.names[v] for v in graph.sources}
        for vertex in plan.vertices:
            names = metrics_of(vertex, sources)
            if names:
                operators.update(own_counters(vertex, names, self._metrics(vertex, names)))
        return Reading(at_s, vertices, operators)

    def _metrics(self, vertex: Vertex, names: Mapping[str, str]) -> dict[str, float]:
        wanted = [
            f"{i}.{name}.{metric}"
            for name in names.values()
            for metric in OWN.values()
            for i in range(vertex.parallelism)
        ]
        found: dict[str, float] = {}
        path = f"{self.job}/vertices/{urllib.parse.quote(vertex.id, safe='')}/metrics?get="
        for query in queries(wanted):
            value = self._ask(path + query)
            with _of(self.server.url + path):
                found |= {str(each["id"]): float(each["value"]) for each in value}
        return found

    def _begin(self) -> float:
        """Begin a step that has a time of its own; return when."""
        began = time.monotonic()
        self._until = began + self.timeout_s
        return began

    def _ask(self, path: str) -> Any:
        """Ask, and again after an answer that is none, until the time for this step is over.

        What is told in the end is what went wrong first.
        """
        fault: BackendError | None = None
        while True:
            try:
                return self.server.get(path, self._until - time.monotonic())
            except GoneError:
                raise
            except BackendError as error:
                fault = fault or error
                if self._until - time.monotonic() <= self.every_s:
                    raise fault from None
                time.sleep(self.every_s)


def queries(metrics: Sequence[str]) -> Iterator[str]:
    """Yield the metrics as queries that are short enough, several in one."""
    query = ""
    for metric in metrics:
        quoted = urllib.parse.quote(metric)
        if query and len(query) + len(quoted) > LONGEST_QUERY:
            yield query
            query = ""
        query += ("%2C" if query else "") + quoted
    if query:
        yield query


def uneven(seed: int) -> Iterator[float]:
    """Yield pauses between readings, 0.5 to 1.5, without end.

    Flink counts a task's time as idle once its next tuple comes, and until then as busy. A job
    with a beat near that of the readings would show them more and more of this, or less and less,
    as if tuples took longer or shorter; at uneven times they see as much of it early as late.
    """
    chance = random.Random(seed)
    while True:
        yield chance.uniform(0.5, 1.5)


def counters(metrics: Mapping[str, Any]) -> Counters:
    """Return a vertex's counters; none where a subtask has not told its own (``*-complete``)."""
    if not all(metrics.get(name) is True for name in COMPLETE):
        return Counters()
    return Counters(**{name: _number(metrics.get(key)) for name, key in TASK.items()})


def metrics_of(vertex: Vertex, sources: Collection[str]) -> dict[str, str]:
    """Return operator -> what metrics call it, for those whose own counters are needed.

    Those are the members of chains, and sources: nothing comes into a source, so what it emits is
    what it processes. Operators of one name share their metrics, so they have none.
    """
    if len(vertex.operators) == 1 and vertex.operators[0] not in sources:
        return {}
    known = [name.translate(UNFIT)[:LONGEST_NAME] for name in vertex.chain.names]
    pairs = zip(vertex.operators, known, strict=True)
    return {operator: name for operator, name in pairs if known.count(name) == 1}


def own_counters(
    vertex: Vertex, names: Mapping[str, str], found: Mapping[str, float]
) -> dict[str, Counters]:
    """Return operator -> its own tuples, summed over subtasks if all have told them."""

    def total(name: str, metric: str) -> float | None:
        told = [found.get(f"{i}.{name}.{metric}") for i in range(vertex.parallelism)]
        numbers = [number for number in told if number is not None and 0 <= number <= MOST]
        return sum(numbers) if len(numbers) == len(told) else None

    return {
        operator: Counters(**{what: total(name, metric) for what, metric in OWN.items()})
        for operator, name in names.items()
    }


def task_managers_of(watched: Watched) -> dict[str, list[str]]:
    """Return operator -> the TaskManager of each of its instances, where all of them have one."""
    return {
        operator: watched.hosts[vertex.id]
        for vertex in watched.plan.vertices
        if vertex.id in watched.hosts and NOWHERE not in watched.hosts[vertex.id]
        for operator in vertex.operators
    }


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        return None
    return float(value)


def _time_s(now: Any) -> float:
    """Return a server's clock in seconds.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is none.
    """
    if not 0 <= float(now) <= MOST:
        raise ValueError(f"{now!r:.40} is no time")
    return float(now) / 1e3


@contextmanager
def _of(where: str) -> Iterator[None]:
    """Say that an answer is not as Flink's are."""
    try:
        with located(where, FormatError):
            yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        said = f"{type(error).__name__}: {error}"
        raise BackendError(f"{where}: not an answer of Flink: {said:.120}") from None
    except (FormatError, GraphError) as error:
        raise BackendError(str(error)) from None
