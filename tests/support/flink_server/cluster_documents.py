"""Documents of TaskManagers and jars, with the fields that Flink 2.3 writes."""

from collections.abc import Mapping, Sequence
from typing import Any

SLOTS = 4
CPU, HEAP_MB, MANAGED_MB = 1.0, 96, 16


def task_manager(
    name: str, labels: Mapping[str, float], holders: Sequence[str], details: bool
) -> dict[str, Any]:
    """Return the document of a TaskManager, of which jobs hold slots.

    Parameters
    ----------
    holders
        For each slot that is taken the job that holds it.
    details
        Whether the document is that of ``/taskmanagers/ID``, which also lists its slots.
    """
    small = _resource(0.1, 8, 1, dict.fromkeys(list(labels)[:1], 1.0))
    taken = len(holders)
    left = {key: amount - taken * (i == 0) for i, (key, amount) in enumerate(labels.items())}
    free = _resource(CPU - 0.1 * taken, HEAP_MB - 8 * taken, MANAGED_MB - taken, left)
    found: dict[str, Any] = {
        "id": name,
        "path": f"pekko.tcp://flink@{name}:34855/user/rpc/taskmanager_0",
        "dataPort": 41835,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": 1,
        "slotsNumber": SLOTS,
        "freeSlots": SLOTS - taken,
        "assignedTasks": taken,
        "totalResource": _resource(CPU, HEAP_MB, MANAGED_MB, labels),
        "freeResource": free,
        "hardware": dict.fromkeys(("cpuCores", "physicalMemory", "freeMemory", "managedMemory"), 1),
        "memoryConfiguration": dict.fromkeys(
            (
                *("frameworkHeap", "taskHeap", "frameworkOffHeap", "taskOffHeap", "networkMemory"),
                *("managedMemory", "jvmMetaspace", "jvmOverhead"),
                *("totalFlinkMemory", "totalProcessMemory"),
            ),
            1,
        ),
    }
    if details:
        held = [{"jobId": job, "resource": small, "assignedTasks": 1} for job in holders]
        found |= {"allocatedSlots": held, "metrics": {}}
    return found


def _resource(
    cores: float, heap_mb: int, managed_mb: int, labels: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "cpuCores": cores,
        "taskHeapMemory": heap_mb,
        "taskOffHeapMemory": 0,
        "managedMemory": managed_mb,
        "networkMemory": 32,
        "extendedResources": dict(labels),
    }


def jars(jar: str) -> dict[str, Any]:
    """Return the list of uploaded jars."""
    row = {"id": jar, "name": "job.jar", "uploaded": 1, "entry": []}
    return {"address": "http://flink-host:8081", "files": [row]}
