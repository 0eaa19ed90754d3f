"""What the documents of one version of Flink look like, for one running job."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamplace.engines.flink.client import Client, job_path
from streamplace.errors import BackendError

CHECKED = ("schedulerType", "maxParallelism", "job-type", "pending-operators")
OF_VERTEX = ("maxParallelism", "slotSharingGroupId")


def collect(client: Client, job: str, folder: Path) -> dict[str, Any]:
    """Keep the documents that streamplace reads in a folder; return name -> document."""
    path = job_path(job)
    paths = {
        "config": "/config",
        "jobmanager-config": "/jobmanager/config",
        "taskmanagers": "/taskmanagers",
        "job": path,
        "job-config": f"{path}/config",
        "checkpoints": f"{path}/checkpoints",
        "checkpoints-config": f"{path}/checkpoints/config",
        "exceptions": f"{path}/exceptions",
        "resource-requirements": f"{path}/resource-requirements",
    }
    found: dict[str, Any] = {}
    for name, each in paths.items():
        try:
            found[name] = client.get(each)
        except BackendError as error:
            found[name] = {"error": str(error).partition(": ")[2].partition(" for ")[0]}
    for manager in found["taskmanagers"]["taskmanagers"]:
        found["taskmanager"] = client.get(f"/taskmanagers/{manager['id']}")
    vertices = found["job"]["vertices"]
    found["metrics"] = [client.get(f"{path}/vertices/{each['id']}/metrics") for each in vertices]
    found["vertices"] = [client.get(f"{path}/vertices/{each['id']}") for each in vertices]
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in found.items():
        (folder / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n")
    return found


def described(found: dict[str, Any], execution_plan: str) -> dict[str, Any]:
    """Return fact -> value, one line of the table each."""
    job, vertex = found["job"], found["job"]["vertices"][0]
    nodes = job["plan"]["nodes"]
    logical = json.loads(execution_plan)["nodes"]
    names = {each["id"].partition(".")[2] for row in found["metrics"] for each in row}
    checkpoints = found["checkpoints-config"]
    return {
        "plan: fields of a vertex": _keys(nodes),
        "plan: description of a chain": max((n["description"] for n in nodes), key=len),
        "plan: ship strategies": sorted(
            {i["ship_strategy"] for n in nodes for i in n.get("inputs", ())}
        ),
        "execution plan: fields of a node": _keys(logical),
        "execution plan: types": [each["type"] for each in logical],
        **{f"job: {key}": job.get(key, "absent") for key in CHECKED},
        **{f"vertex: {key}": _shown(vertex, key) for key in OF_VERTEX},
        "vertex: metrics": sorted(vertex["metrics"]),
        "metrics: times of a task": sorted(
            n for n in names if n.lower().startswith(("busy", "accumulate"))
        ),
        "subtask: fields": _keys(s for row in found["vertices"] for s in row["subtasks"]),
        "state backend": checkpoints["state_backend"],
        "checkpoint settings": sorted(checkpoints),
        "TaskManager: fields": _keys(found["taskmanagers"]["taskmanagers"]),
        "TaskManager: labels": found["taskmanager"]["totalResource"]["extendedResources"],
        "slots that a job holds": _keys(found["taskmanager"].get("allocatedSlots", ())),
        "resource requirements": _requirements(found["resource-requirements"]),
    }


def _keys(rows: Iterable[dict[str, Any]]) -> list[str]:
    return sorted({key for row in rows for key in row})


def _shown(row: dict[str, Any], key: str) -> Any:
    value = row.get(key, "absent")
    return "an id" if isinstance(value, str) and value != "absent" else value


def _requirements(value: dict[str, Any]) -> Any:
    return value["error"] if "error" in value else list(next(iter(value.values()))["parallelism"])
