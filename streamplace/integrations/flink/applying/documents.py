"""What Flink's REST API says about a job and its cluster, before and after a restart."""

import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from streamplace.integrations.flink.answers import expecting
from streamplace.integrations.flink.applying.checkpoint_settings import (
    checkpoint_settings,
    checkpoints_enabled,
    keeps_checkpoints,
)
from streamplace.integrations.flink.plan import RunningPlan, running
from streamplace.integrations.profiling.rest import GoneError, Server

MAPPING = "streamplace.mapping"  # the key under which the Java helper publishes its mapping
ENDED = ("FINISHED", "CANCELED", "FAILED")
STOPPING = "SYNC_SAVEPOINT"  # checkpoint type of the savepoint that stops a job


@dataclass(frozen=True)
class Room:
    """Resources of a TaskManager: cores, memory in MB, and amounts of labels."""

    cores: float = 0.0
    heap_mb: int = 0
    managed_mb: int = 0
    labels: Mapping[str, float] = field(default_factory=dict)

    def __add__(self, other: "Room") -> "Room":
        keys = {**self.labels, **other.labels}
        return Room(
            self.cores + other.cores,
            self.heap_mb + other.heap_mb,
            self.managed_mb + other.managed_mb,
            {key: self.labels.get(key, 0) + other.labels.get(key, 0) for key in keys},
        )


@dataclass(frozen=True)
class TaskManager:
    """A TaskManager.

    Parameters
    ----------
    total, room
        All its resources, and those that are free once the job has stopped.
    slots, free_slots
        Number of its slots, and of those that are free once the job has stopped.
    """

    id: str
    total: Room
    room: Room
    slots: int
    free_slots: int


@dataclass(frozen=True)
class Cluster:
    """The configuration of the JobManager, and the TaskManagers."""

    config: Mapping[str, str]
    task_managers: tuple[TaskManager, ...]

    @property
    def savepoint_dir(self) -> str | None:
        """The folder for savepoints that the cluster is configured with."""
        keys = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
        return next((self.config[key] for key in keys if self.config.get(key)), None)

    def offering(self, label: str) -> list[TaskManager]:
        """Return the TaskManagers that have a label."""
        return [each for each in self.task_managers if each.total.labels.get(label, 0) > 0]


@dataclass(frozen=True)
class Vertex:
    """A vertex of a job, see `RunningPlan`; `group` is the id of its slot-sharing group."""

    id: str
    status: str
    parallelism: int
    max_parallelism: int
    group: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """The latest completed checkpoint of a job.

    Parameters
    ----------
    seconds, age_s
        How long it took, and how old its state is.
    """

    path: str
    seconds: float
    age_s: float = inf


@dataclass(frozen=True)
class Job:
    """A job, running or ended.

    Parameters
    ----------
    vertices
        Vertex id -> vertex.
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
    max_parallelism
        The maximum parallelism that the job sets for all operators; None if it sets none.
    checkpoint_interval_s
        Largest time between the end of a checkpoint and the beginning of the next one; 0 if the
        job has no checkpoints.
    checkpoint_settings
        The options of Flink that give another job the same checkpoints.
    """

    id: str
    name: str
    state: str
    scheduler: str
    plan: RunningPlan
    vertices: Mapping[str, Vertex]
    mapping: str | None = None
    checkpoint_timeout_s: float | None = None
    checkpoint: Checkpoint | None = None
    stopped_at: str | None = None
    restored_from: str | None = None
    keeps_checkpoints: bool = False
    max_parallelism: int | None = None
    checkpoint_interval_s: float = 0.0
    checkpoint_settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether the job has reached a final state."""
        return self.state in ENDED

    @property
    def runs(self) -> bool:
        """Whether every vertex runs; a job that waits for slots is RUNNING too."""
        running_all = all(v.status == "RUNNING" for v in self.vertices.values())
        return self.state == "RUNNING" and running_all

    @property
    def vertex_of(self) -> dict[str, Vertex]:
        """Operator -> its vertex."""
        return {
            name: self.vertices[v.id]
            for v in self.plan.vertices
            for name in v.operators
            if v.id in self.vertices
        }


def job_path(job: str) -> str:
    """Return the path of a job."""
    return f"/jobs/{urllib.parse.quote(job, safe='')}"


def read_cluster(server: Server, job: str, within_s: float) -> Cluster:
    """Read the cluster; what `job` holds counts as free."""
    rows = server.get("/jobmanager/config", within_s)
    with expecting(f"{server.url}/jobmanager/config"):
        config = {str(row["key"]): str(row["value"]) for row in rows}
    listed = server.get("/taskmanagers", within_s)
    with expecting(f"{server.url}/taskmanagers"):
        ids = sorted(str(each["id"]) for each in listed["taskmanagers"])
    found = []
    for name in ids:
        path = f"/taskmanagers/{urllib.parse.quote(name, safe='')}"
        value = server.get(path, within_s)
        with expecting(server.url + path):
            found.append(task_manager(value, job))
    return Cluster(config, tuple(found))


def task_manager(value: Any, job: str) -> TaskManager:
    """Return a TaskManager from the document of ``/taskmanagers/ID``."""
    held = [each for each in value.get("allocatedSlots", ()) if each["jobId"] == job]
    room = sum((_room(each["resource"]) for each in held), _room(value["freeResource"]))
    slots = int(value["slotsNumber"])
    free = min(int(value["freeSlots"]) + len(held), slots)
    return TaskManager(str(value["id"]), _room(value["totalResource"]), room, slots, free)


def _room(value: Any) -> Room:
    labels = {str(key): float(amount) for key, amount in value["extendedResources"].items()}
    heap, managed = int(value["taskHeapMemory"]), int(value["managedMemory"])
    return Room(float(value["cpuCores"]), heap, managed, labels)


def read_job(server: Server, job: str, within_s: float) -> Job:
    """Read a job.

    Raises
    ------
    GoneError
        If the server does not know the job.
    """
    path = job_path(job)
    details = server.get(path, within_s)
    config = server.get(f"{path}/config", within_s)
    statistics = _if_any(server, f"{path}/checkpoints", within_s)
    checkpoints = _if_any(server, f"{path}/checkpoints/config", within_s)
    with expecting(server.url + path):
        return job_of(details, config, statistics, checkpoints, server.url + path)


def job_of(
    details: Any, config: Any, statistics: Any, checkpoints: Any, where: str = "details"
) -> Job:
    """Return a job from its documents; those of checkpoints may be None.

    Parameters
    ----------
    where
        Name of `details` in messages.
    """
    parameters = (config.get("execution-config") or {}).get("user-config") or {}
    enabled = checkpoints_enabled(checkpoints)
    latest = {} if statistics is None else statistics.get("latest") or {}
    saved, restored = latest.get("savepoint") or {}, latest.get("restored") or {}
    completed = latest.get("completed") or {}
    finished = details["state"] == "FINISHED" and saved.get("checkpoint_type") == STOPPING
    return Job(
        str(details["jid"]),
        str(details["name"]),
        str(details["state"]),
        str(details.get("schedulerType", "Default")),
        running(details["plan"], f"{where}: plan"),
        {str(each["id"]): _vertex(each) for each in details["vertices"]},
        parameters.get(MAPPING),
        float(checkpoints["timeout"]) / 1e3 if enabled else None,
        _checkpoint(completed, details.get("now")) if completed.get("external_path") else None,
        str(saved["external_path"]) if finished else None,
        restored.get("external_path"),
        keeps_checkpoints(checkpoints),
        most if (most := int(details.get("maxParallelism", -1))) > 0 else None,
        _between_s(checkpoints) if enabled else 0.0,
        checkpoint_settings(checkpoints),
    )


def _checkpoint(value: Any, now_ms: Any) -> Checkpoint:
    """Return a checkpoint; it is of unknown age if the server's clock is unknown."""
    begun_ms = value.get("trigger_timestamp")
    known = begun_ms is not None and now_ms is not None
    age_s = max(float(now_ms) - float(begun_ms), 0.0) / 1e3 if known else inf
    return Checkpoint(str(value["external_path"]), float(value["end_to_end_duration"]) / 1e3, age_s)


def _between_s(config: Any) -> float:
    return max(int(config["interval"]), int(config.get("min_pause", 0))) / 1e3


def _vertex(value: Any) -> Vertex:
    most = int(value.get("maxParallelism", -1))
    group = str(value.get("slotSharingGroupId", ""))
    return Vertex(str(value["id"]), str(value["status"]), int(value["parallelism"]), most, group)


def _if_any(server: Server, path: str, within_s: float) -> Any:
    try:
        return server.get(path, within_s)
    except GoneError:
        return None


def read_hosts(server: Server, job: Job, within_s: float) -> dict[str, list[str]]:
    """Return operator -> the TaskManager of each of its instances."""
    found: dict[str, list[str]] = {}
    for vertex in job.plan.vertices:
        path = f"{job_path(job.id)}/vertices/{urllib.parse.quote(vertex.id, safe='')}"
        value = server.get(path, within_s)
        with expecting(server.url + path):
            subtasks = sorted(value["subtasks"], key=lambda task: int(task["subtask"]))
            hosts = [str(task["taskmanager-id"]) for task in subtasks]
        found.update(dict.fromkeys(vertex.operators, hosts))
    return found


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
