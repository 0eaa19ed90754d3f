"""What Flink says about a cluster: its configuration with durations, and its TaskManagers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamplace.errors import UsageError

TRIED: tuple[str, ...] = ("1.17", "1.18", "1.19", "1.20", "2.0", "2.1", "2.2", "2.3")
"""`apply` and `watch` refuse others; `python -m benchmarks.flink_versions FOLDER` tries one."""
FIRST_IN_PLACE = "1.18"
FIRST_WITH_LABELS = "1.18"  # by default
WITH_LABELS = "cluster.fine-grained-resource-management.enabled"

_DURATION = re.compile(r"(\d+)\s*([^\d\s]*)", re.ASCII)
_TIMES = {
    1e-9: "ns nano nanos nanosecond nanoseconds",
    1e-6: "µs micro micros microsecond microseconds",
    1e-3: "ms milli millis millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "m min minute minutes",
    3600.0: "h hour hours",
    86_400.0: "d day days",
}
_SECONDS = {label: seconds for seconds, labels in _TIMES.items() for label in labels.split()}


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
class FlinkCluster:
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


def config_of(rows: Any) -> dict[str, str]:
    """Return the configuration in the document ``/jobmanager/config``."""
    return {str(row["key"]): str(row["value"]) for row in rows}


def scheduler_in(config: Mapping[str, str]) -> str:
    """Return the scheduler that a configuration states for streaming jobs."""
    if config.get("scheduler-mode", "").lower() == "reactive":
        return "Adaptive"
    return config.get("jobmanager.scheduler", "Default")


def version_of(value: Any) -> str:
    """Return Flink's version, which begins with a number, from the document ``/config``."""
    version = str(value["flink-version"])
    int(version.partition(".")[0])
    return version


def slots_of(value: Any) -> dict[str, int]:
    """Return TaskManager -> number of its slots, from the document ``/taskmanagers``."""
    return {str(each["id"]): int(each["slotsNumber"]) for each in value["taskmanagers"]}


def task_managers_of(value: Any) -> tuple[TaskManager, ...]:
    """Return the TaskManagers by id, from the document ``/taskmanagers``."""
    found = [task_manager(each, "") for each in value["taskmanagers"]]
    return tuple(sorted(found, key=lambda each: each.id))


def task_manager(value: Any, job: str) -> TaskManager:
    """Return a TaskManager from the document of ``/taskmanagers/ID``.

    Resources that the document leaves out, as lists of old versions do, count as none.
    """
    held = [each for each in value.get("allocatedSlots", ()) if each["jobId"] == job]
    room = sum((_room(each["resource"]) for each in held), _room(value.get("freeResource")))
    slots = int(value["slotsNumber"])
    free = min(int(value["freeSlots"]) + len(held), slots)
    return TaskManager(str(value["id"]), _room(value.get("totalResource")), room, slots, free)


def _room(value: Any) -> Room:
    if value is None:
        return Room()
    labels = {str(key): float(amount) for key, amount in value["extendedResources"].items()}
    heap, managed = int(value["taskHeapMemory"]), int(value["managedMemory"])
    return Room(float(value["cpuCores"]), heap, managed, labels)


def seconds_of(text: str) -> float:
    """Return the seconds of a duration, such as ``1 min``; a number alone is milliseconds.

    Raises
    ------
    UsageError
        If the text is not a whole number with one of Flink's units.
    """
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None or (seconds := _SECONDS.get(found[2] or "ms")) is None:
        raise UsageError(f"must be a whole number with a unit, such as 60 s (got {text!r:.40})")
    return int(found[1]) * seconds


def faults_of_version(version: str) -> Iterator[str]:
    """Yield that nothing was tried on a version, such as ``1.16.3``."""
    if minor_of(version) not in TRIED:
        tried = f"{', '.join(TRIED[:-1])} and {TRIED[-1]}"
        yield f"Flink {version} is none of the versions that streamplace was run on: {tried}"


def faults_in_place(version: str) -> Iterator[str]:
    """Yield that a version cannot change numbers of instances while a job runs."""
    if version_numbers(version) < version_numbers(FIRST_IN_PLACE):
        yield (
            f"Flink {version} cannot change numbers of instances while a job runs; "
            f"{FIRST_IN_PLACE} and later versions can"
        )


def faults_of_labels(version: str, config: Mapping[str, str]) -> Iterator[str]:
    """Yield that a cluster of a version has no slots for groups with labels."""
    if config.get(WITH_LABELS, "false").lower() == "true":
        return
    if version_numbers(version) < version_numbers(FIRST_WITH_LABELS):
        yield f"Flink {version} has slots for labels only with {WITH_LABELS}: true"


def minor_of(version: str) -> str:
    """Return the first two numbers of a version: ``2.3`` of ``2.3.0``."""
    return ".".join(map(str, version_numbers(version)))


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version; none if it does not begin with them."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", version)
    return tuple(map(int, found.groups())) if found else ()
