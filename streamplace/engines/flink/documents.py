"""What Flink's REST interface says about jobs: their documents and counters, as data."""

import json
import urllib.parse
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, isnan, nan
from typing import Any

from streamplace.engines.flink.key_groups import counts_in
from streamplace.engines.flink.plan import RunningPlan, Vertex, running
from streamplace.engines.flink.states import FINISHED, RUNNING, not_going
from streamplace.errors import BackendError, FormatError, GraphError, StreamplaceError
from streamplace.formats.profiling.counters import TUPLES_AND_BYTES, Counters

MAPPING = "streamplace.mapping"  # the key under which the Java helper publishes its mapping
ENDED = ("FINISHED", "CANCELED", "FAILED")
ADAPTIVE = ("adaptive", "adaptivebatch")  # schedulers
STOPPING = "SYNC_SAVEPOINT"  # checkpoint type of the savepoint that stops a job
INTERVAL = "execution.checkpointing.interval"
RETENTION = "execution.checkpointing.externalized-checkpoint-retention"
NEVER_MS = 2**62  # the interval of checkpoints in a job without them is larger
MAX_QUERY = 3000  # bytes; Flink refuses requests whose first line exceeds 4096
MAX_NAME = 80  # characters of an operator's name in a metric's name
UNFIT = str.maketrans(" .:,", "____")  # characters that Flink replaces in metric names
TASK = {
    "records_in": "read-records",
    "records_out": "write-records",
    "bytes_in": "read-bytes",
    "bytes_out": "write-bytes",
    "busy_ms": "accumulated-busy-time",
    "idle_ms": "accumulated-idle-time",
    "backpressured_ms": "accumulated-backpressured-time",
}
"""Counter -> its name among the metrics of a vertex."""
COMPLETE = [f"{TASK[name]}-complete" for name in TUPLES_AND_BYTES]
MAX_COUNTER = 2**63
"""Largest counter and time in milliseconds; Flink's integers have 64 bits."""
OPERATOR_METRICS = {"records_in": "numRecordsIn", "records_out": "numRecordsOut"}
"""Counter -> its name among the metrics of an operator."""


@dataclass(frozen=True)
class Subtask:
    """An instance of a vertex: its TaskManager, its state, and its counters."""

    host: str
    status: str
    counters: Counters


@dataclass(frozen=True)
class VertexState:
    """What a job's document says of a vertex of its plan.

    Parameters
    ----------
    max_parallelism
        The largest parallelism that its state allows; at most 0 if unknown.
    group
        Id of its slot-sharing group.
    title
        Flink's name of the vertex.
    metrics
        Its metrics, summed over its instances; see `counters`.
    tasks
        State -> number of its instances in it; empty if it is unknown.
    """

    id: str
    status: str
    parallelism: int
    max_parallelism: int
    group: str = ""
    title: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, int] = field(default_factory=dict)

    @property
    def finished(self) -> int:
        """Number of its instances that have finished; they need nothing any more."""
        return self.parallelism if self.status == FINISHED else self.tasks.get(FINISHED, 0)

    @property
    def waits(self) -> str:
        """The states of its instances that neither run nor have finished; empty if there are none.

        Flink says that a vertex runs if any of its instances does.
        """
        return not_going({self.status, *(state for state, count in self.tasks.items() if count)})


@dataclass(frozen=True)
class Checkpoint:
    """The latest completed checkpoint of a job.

    Parameters
    ----------
    seconds, age_s
        How long it took, and how old its state is.
    number
        Its number in the job.
    """

    path: str
    seconds: float
    age_s: float = inf
    number: int = 0


@dataclass(frozen=True, kw_only=True)
class JobState:
    """A job, running or ended, as its own document describes it.

    Parameters
    ----------
    vertices
        Vertex id -> its state.
    max_parallelism
        The maximum parallelism that the job sets for all operators; None if it sets none.
    scheduler
        What schedules it; empty if its document does not say so, as before Flink 2.3.
    at_s
        Time by the server's clock, in seconds since 1970; NaN if it is missing.
    started_s
        When the job, or its last recovery, began to run, by the same clock; NaN if it is missing.
    """

    id: str
    name: str
    state: str
    scheduler: str
    plan: RunningPlan
    vertices: Mapping[str, VertexState]
    max_parallelism: int | None = None
    at_s: float = nan
    started_s: float = nan

    @property
    def ended(self) -> bool:
        """Whether the job has reached a final state."""
        return self.state in ENDED

    @property
    def is_adaptive(self) -> bool:
        """Whether it runs under the adaptive scheduler, which can change its instances."""
        return self.scheduler.lower() in ADAPTIVE

    @property
    def runs(self) -> bool:
        """Whether all that has not finished runs; a job that waits for slots is RUNNING too."""
        return self.state == RUNNING and not any(v.waits for v in self.vertices.values())

    @property
    def waiting(self) -> dict[str, str]:
        """Operator -> the states of its instances that neither run nor have finished."""
        return {name: v.waits for name, v in self.vertex_of.items() if v.waits}

    @property
    def most(self) -> dict[str, int]:
        """Operator -> the largest parallelism that its state allows, where that is known."""
        rows = {name: vertex.max_parallelism for name, vertex in self.vertex_of.items()}
        return {name: most for name, most in rows.items() if most > 0}

    @property
    def vertex_of(self) -> dict[str, VertexState]:
        """Operator -> its vertex."""
        return {
            name: self.vertices[v.id]
            for v in self.plan.vertices
            for name in v.operators
            if v.id in self.vertices
        }


@dataclass(frozen=True, kw_only=True)
class Job(JobState):
    """A job with its configuration and its checkpoints.

    Parameters
    ----------
    mapping
        The mapping that the job published; None if it was started without.
    checkpoint_timeout_s
        Time after which Flink gives up a checkpoint or savepoint; None if the job has no
        checkpoints.
    checkpoint
        The latest completed checkpoint; None if there is none.
    stopped_at
        The savepoint with which the job was stopped; None if it was not.
    restored_from
        The savepoint or checkpoint that the job was started from.
    keeps_checkpoints
        Whether the latest checkpoint is kept when the job is cancelled.
    checkpoint_interval_s
        Largest time between the end of a checkpoint and the beginning of the next one; 0 if the
        job has no checkpoints.
    checkpoint_settings
        The options of Flink that give another job the same checkpoints.
    state_bytes
        The state in its latest checkpoint; 0 if it is unknown.
    state_backend
        What keeps the state, by the name of its class; empty if it is unknown.
    """

    mapping: str | None = None
    checkpoint_timeout_s: float | None = None
    checkpoint: Checkpoint | None = None
    stopped_at: str | None = None
    restored_from: str | None = None
    keeps_checkpoints: bool = False
    checkpoint_interval_s: float = 0.0
    checkpoint_settings: Mapping[str, str] = field(default_factory=dict)
    state_bytes: float = 0.0
    state_backend: str = ""


def state_of(details: Any, where: str = "details") -> JobState:
    """Return a job from its document.

    Parameters
    ----------
    where
        Name of `details` in messages.
    """
    rows = details["vertices"]
    begun = [details["timestamps"]["RUNNING"]] if "timestamps" in details else [nan]
    begun += [each.get("start-time", 0) for each in rows]
    return JobState(
        id=str(details["jid"]),
        name=str(details["name"]),
        state=str(details["state"]),
        scheduler=str(details.get("schedulerType", "")),
        plan=_plan(json.dumps(details["plan"]), f"{where}: plan", *counts_in(details).items()),
        vertices={str(each["id"]): _vertex(each) for each in rows},
        max_parallelism=most if (most := int(details.get("maxParallelism", -1))) > 0 else None,
        at_s=time_s(details["now"]) if "now" in details else nan,
        started_s=max(map(float, begun)) / 1e3,
    )


@lru_cache(maxsize=8)  # a job that is watched gives the same plan in every answer
def _plan(text: str, where: str, *counts: tuple[str, int]) -> RunningPlan:
    return running(json.loads(text), where, dict(counts))


def _vertex(value: Any) -> VertexState:
    return VertexState(
        str(value["id"]),
        str(value["status"]),
        int(value["parallelism"]),
        int(value.get("maxParallelism", -1)),
        str(value.get("slotSharingGroupId", "")),
        str(value.get("name", "")),
        dict(value.get("metrics") or {}),
        {str(state): int(count) for state, count in (value.get("tasks") or {}).items()},
    )


def job_of(state: JobState, config: Any, statistics: Any, checkpoints: Any) -> Job:
    """Return a job from its state and its other documents; those of checkpoints may be None."""
    parameters = (config.get("execution-config") or {}).get("user-config") or {}
    enabled = checkpoints_enabled(checkpoints)
    latest = {} if statistics is None else statistics.get("latest") or {}
    saved, restored = latest.get("savepoint") or {}, latest.get("restored") or {}
    completed = latest.get("completed") or {}
    finished = state.state == "FINISHED" and saved.get("checkpoint_type") == STOPPING
    return Job(
        **vars(state),
        mapping=parameters.get(MAPPING),
        checkpoint_timeout_s=float(checkpoints["timeout"]) / 1e3 if enabled else None,
        checkpoint=_checkpoint(completed, state.at_s) if completed.get("external_path") else None,
        stopped_at=str(saved["external_path"]) if finished else None,
        restored_from=restored.get("external_path"),
        keeps_checkpoints=keeps_checkpoints(checkpoints),
        checkpoint_interval_s=_between_s(checkpoints) if enabled else 0.0,
        checkpoint_settings=checkpoint_settings(checkpoints),
        state_bytes=_state_bytes(checkpoints, completed),
        state_backend=str((checkpoints or {}).get("state_backend", "")),
    )


def _checkpoint(value: Any, now_s: float) -> Checkpoint:
    """Return a checkpoint; it is of unknown age if the server's clock is unknown."""
    begun_ms = value.get("trigger_timestamp")
    known = begun_ms is not None and not isnan(now_s)
    age_s = max(now_s - float(begun_ms) / 1e3, 0.0) if known else inf
    took_s = float(value["end_to_end_duration"]) / 1e3
    return Checkpoint(str(value["external_path"]), took_s, age_s, int(value.get("id", 0)))


def state_by_vertex(details: Any) -> dict[str, float]:
    """Return vertex -> the bytes of its state, from the document of a completed checkpoint."""
    return {str(vertex): float(each["state_size"]) for vertex, each in details["tasks"].items()}


def _state_bytes(config: Any, completed: Any) -> float:
    """Return the state as a checkpoint has it; 0 if it is unknown.

    The size of an unaligned checkpoint includes tuples in buffers, which are no state.
    """
    if config is None or config.get("unaligned_checkpoints"):
        return 0.0
    return float(completed.get("state_size", 0))


def _between_s(config: Any) -> float:
    return max(int(config["interval"]), int(config.get("min_pause", 0))) / 1e3


def checkpoints_enabled(config: Any) -> bool:
    """Return whether a job has checkpoints, from its document; None if Flink has no document."""
    return config is not None and 0 < int(config["interval"]) < NEVER_MS


def keeps_checkpoints(config: Any) -> bool:
    """Return whether checkpoints outlive a cancelled job."""
    kept = {} if config is None else config.get("externalization") or {}
    return kept.get("enabled") is True and kept.get("delete_on_cancellation") is False


def checkpoint_settings(config: Any) -> dict[str, str]:
    """Return the options of Flink that give another job the same checkpoints.

    A job that was started with `flink run -D…` has them from the command line, which Flink does not
    keep: a job started from the same jar would have no checkpoints.
    """
    if not checkpoints_enabled(config):
        return {}
    found = {INTERVAL: f"{int(config['interval'])} ms"}
    for key, option in (("timeout", "timeout"), ("min_pause", "min-pause")):
        if key in config:
            found[f"execution.checkpointing.{option}"] = f"{int(config[key])} ms"
    if "mode" in config:
        found["execution.checkpointing.mode"] = str(config["mode"]).upper()
    if keeps_checkpoints(config):
        found[RETENTION] = "RETAIN_ON_CANCELLATION"
    return found


def subtasks_of(value: Any) -> tuple[Subtask, ...]:
    """Return the instances of a vertex in order, from the document ``/jobs/ID/vertices/ID``."""
    rows = sorted(value["subtasks"], key=lambda row: int(row["subtask"]))
    return tuple(
        Subtask(
            str(row["taskmanager-id"]),
            str(row.get("status", "")),
            counters(row.get("metrics") or {}),
        )
        for row in rows
    )


def metrics_in(value: Any) -> dict[str, float]:
    """Return name -> number, from an answer to a query for metrics."""
    return {str(each["id"]): float(each["value"]) for each in value}


def cause_of(exceptions: Any) -> str:
    """Return the last cause in the document ``/jobs/ID/exceptions``, one line; empty if none."""
    entries = (exceptions.get("exceptionHistory") or {}).get("entries") or []
    return last_cause(str(entries[0].get("stacktrace", ""))) if entries else ""


def last_cause(trace: str) -> str:
    """Return the last cause in a Java stack trace, without its class' package."""
    lines: Sequence[str] = [line.strip() for line in trace.replace("\\n", "\n").splitlines()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    text = (causes[-1] if causes else lines[0] if lines else "").removeprefix("Caused by: ")
    kind, colon, message = text.partition(": ")
    return f"{kind.rpartition('.')[2]}{colon}{message}" if " " not in kind else text


def queries(metrics: Sequence[str]) -> Iterator[str]:
    """Yield queries for the metrics, several in one query within the length limit."""
    query = ""
    for metric in metrics:
        quoted = urllib.parse.quote(metric)
        if query and len(query) + len(quoted) > MAX_QUERY:
            yield query
            query = ""
        query += ("%2C" if query else "") + quoted
    if query:
        yield query


def counters(metrics: Mapping[str, Any]) -> Counters:
    """Return a vertex's counters; all missing if a subtask has not reported (``*-complete``)."""
    if not all(metrics.get(name) is True for name in COMPLETE):
        return Counters()
    return Counters(**{name: _number(metrics.get(key)) for name, key in TASK.items()})


def metrics_of(vertex: Vertex, sources: Collection[str]) -> dict[str, str]:
    """Return operator -> its name in metrics, for operators whose own counters are needed.

    These are members of chains, and sources: a source has no input, so its output is counted.
    Operators of the same name share their metrics and are left out.
    """
    if len(vertex.operators) == 1 and vertex.operators[0] not in sources:
        return {}
    metric_names = [name.translate(UNFIT)[:MAX_NAME] for name in vertex.chain.names]
    pairs = zip(vertex.operators, metric_names, strict=True)
    return {operator: name for operator, name in pairs if metric_names.count(name) == 1}


def operator_counters(
    vertex: Vertex, names: Mapping[str, str], found: Mapping[str, float]
) -> dict[str, Counters]:
    """Return operator -> its own counters, summed over subtasks if all have reported."""

    def total(name: str, metric: str) -> float | None:
        values = [found.get(f"{i}.{name}.{metric}") for i in range(vertex.parallelism)]
        numbers = [number for number in values if number is not None and 0 <= number <= MAX_COUNTER]
        return sum(numbers) if len(numbers) == len(values) else None

    return {
        operator: Counters(
            **{what: total(name, metric) for what, metric in OPERATOR_METRICS.items()}
        )
        for operator, name in names.items()
    }


def time_s(now: Any) -> float:
    """Return the server's clock in seconds.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If the value is not a time.
    """
    if not 0 <= float(now) <= MAX_COUNTER:
        raise ValueError(f"not a time: {now!r:.40}")
    return float(now) / 1e3


def _number(value: Any) -> float | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= MAX_COUNTER
    ):
        return None
    return float(value)


@contextmanager
def expecting(where: str, server: str = "Flink") -> Iterator[None]:
    """Raise BackendError if an answer does not have the format of a server's answers."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        fault_text = f"{type(error).__name__}: {error}"
        message = f"{where}: unexpected answer from {server}: {fault_text:.120}"
        raise BackendError(f"{message}; check the address") from None
    except StreamplaceError as error:
        if error.needs_origin:
            error.update(origin=where)
        elif not isinstance(error, FormatError | GraphError):
            raise
        raise BackendError(error.fault) from None
