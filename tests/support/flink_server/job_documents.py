"""Documents of jobs and vertices, with the fields that Flink 2.3 writes."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from tests.support.flink_server.runs import BYTES, Counts, Run

STATES = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING")
TASK_STATES = (*STATES, "CANCELED", "FAILED", "RECONCILING")
JOB_STATES = (
    *("INITIALIZING", "CREATED", "RUNNING", "FAILING", "FAILED", "CANCELLING", "CANCELED"),
    *("FINISHED", "RESTARTING", "SUSPENDED", "RECONCILING"),
)
MAX_PARALLELISM = 4


def plan(job: str, ids: Mapping[str, str], parallelism: Mapping[str, int]) -> dict[str, Any]:
    """Return the plan of a chain of operators, from the sink to the source."""
    nodes: list[Any] = []
    before: str | None = None
    for name, number in parallelism.items():
        row = {"id": before, "num": 0, "exchange": "pipelined_bounded", "ship_strategy": "HASH"}
        node = {
            "id": ids[name],
            "operator": "",
            "parallelism": number,
            "operator_strategy": "",
            "description": f"{name}<br/>",
            "optimizer_properties": {},
        }
        nodes.insert(0, node if before is None else {**node, "inputs": [row]})
        before = ids[name]
    return {"jid": job, "name": "pinned", "type": "STREAMING", "nodes": nodes}


def details(
    job: str,
    run: Run,
    ids: Mapping[str, str],
    scheduler: Mapping[str, str],
    now_s: float,
    fixed: int,
    bare: set[str],
) -> dict[str, Any]:
    """Return the document of a job.

    Parameters
    ----------
    scheduler
        What it says of the scheduler.
    fixed
        The maximum parallelism that the job sets; -1 if none.
    bare
        Vertices without metrics.
    """
    begun, now = int(run.started_s * 1e3), int(now_s * 1e3)
    counts = dict.fromkeys(TASK_STATES, 0)
    return {
        "jid": job,
        "application-id": job,
        "name": "pinned",
        "isStoppable": False,
        "state": run.state,
        "job-type": "STREAMING",
        **scheduler,
        "start-time": begun,
        "end-time": -1,
        "duration": now - begun,
        "maxParallelism": fixed,
        "now": now,
        "timestamps": {**dict.fromkeys(JOB_STATES, 0), "RUNNING": begun},
        "vertices": [_vertex(name, run, ids[name], now, bare) for name in run.hosts],
        "status-counts": {**counts, _status(run): len(run.hosts)},
        "plan": plan(job, ids, run.parallelism),
        "pending-operators": 0,
    }


def _status(run: Run) -> str:
    return run.tasks if run.state in ("RUNNING", "RESTARTING") else run.state


def _vertex(name: str, run: Run, id_: str, now: int, bare: set[str]) -> dict[str, Any]:
    counts = dict.fromkeys(TASK_STATES, 0)
    number, begun = len(run.hosts[name]), int(run.started_s * 1e3)
    return {
        "id": id_,
        "slotSharingGroupId": "0e249717d154791004a61200af1ac92d",
        "name": name,
        "maxParallelism": MAX_PARALLELISM,
        "parallelism": number,
        "status": _status(run),
        "start-time": begun,
        "end-time": -1,
        "duration": now - begun,
        "tasks": {**counts, _status(run): number},
        "metrics": _metrics(name, run, run.fetched.get(name, ()), name not in bare),
    }


def vertex(name: str, run: Run, id_: str, now_s: float, bare: set[str]) -> dict[str, Any]:
    """Return the document of a vertex with its subtasks."""
    begun, now = int(run.started_s * 1e3), int(now_s * 1e3)
    rows: Sequence[Counts | None] = run.fetched.get(name) or [None] * len(run.hosts[name])
    return {
        "id": id_,
        "name": name,
        "parallelism": len(run.hosts[name]),
        "maxParallelism": MAX_PARALLELISM,
        "now": now,
        "subtasks": [
            {
                "subtask": i,
                "status": _status(run),
                "attempt": 0,
                "endpoint": f"{host}:41835",
                "start-time": begun,
                "end-time": -1,
                "duration": now - begun,
                "metrics": _metrics(name, run, [row] if row else (), name not in bare),
                "taskmanager-id": host if run.runs else "(unassigned)",
                "status-duration": dict.fromkeys(STATES[:5], 1),
                "start_time": begun,
            }
            for i, (host, row) in enumerate(zip(run.hosts[name], rows, strict=True))
        ],
        "aggregated": {"metrics": {}, "status-duration": {}},
    }


def _metrics(name: str, run: Run, rows: Sequence[Counts], complete: bool) -> dict[str, Any]:
    """Return sums over subtasks; sources read nothing, and sinks write nothing."""
    names = list(run.hosts)
    tuples = int(sum(row.tuples for row in rows))
    read, written = (0 if name == names[0] else tuples), (0 if name == names[-1] else tuples)
    sums = {
        "read-bytes": read * BYTES,
        "write-bytes": written * BYTES,
        "read-records": read,
        "write-records": written,
    }
    found: dict[str, Any] = {}
    for key, value in sums.items():
        found[key], found[f"{key}-complete"] = (value if complete else 0), complete
    times = ("backpressured", "idle", "busy")
    for key in times:
        total = sum(getattr(row, f"{key}_ms") for row in rows) if complete else 0
        found[f"accumulated-{key}-time"] = _time(total) if key == "busy" else int(total)
    return found


def _time(busy_ms: float) -> float | str:
    """Return a busy time as Flink writes it, in which NaN is text."""
    return "NaN" if isnan(busy_ms) else float(busy_ms)


def overview(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return the list of all jobs, with some of its fields."""
    return {
        "jobs": [{"jid": id_, "name": "pinned", "state": run.state} for id_, run in runs.items()]
    }


def config(job: str, run: Run) -> dict[str, Any]:
    """Return the configuration of a job."""
    user = {} if run.mapping is None else {"streamplace.mapping": run.mapping}
    return {
        "jid": job,
        "name": "pinned",
        "execution-config": {
            "restart-strategy": "Restart with fixed delay (PT1S). #100 restart attempts.",
            "job-parallelism": 1,
            "object-reuse-mode": False,
            "user-config": user,
        },
    }
