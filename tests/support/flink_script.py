"""A loopback server that plays a Flink cluster with one job, and replays failures."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.http_server import Answer, http_server

JOB = "0cb345bc9d1e34abd4bdb33f1eec89cc"
SAVEPOINT = "file:/flink/savepoints/savepoint-0cb345-a43b1f210b74"
CHECKPOINT = "file:/flink/checkpoints/0cb345/chk-6"
JAR = "c25a26c1-b181-42be-99be-433960ee19fe_job.jar"
IDS = {"Source: src": "f362c8", "count": "b71731", "out: Writer": "4d6488"}
TRACE = (
    "org.apache.X: wrapped\n\tat a.B(C.java:1)\nCaused by: java.io.IOException: no space\n\tat d"
)
CHECKED = "StreamplaceMapping: checked, without uid: [{}]\\n\\tat"


@dataclass
class Run:
    """A job of the script: its state, where its operators are, and what it started from."""

    state: str = "RUNNING"
    tasks: str = "RUNNING"
    hosts: dict[str, list[str]] = field(default_factory=dict)
    restored: str | None = None
    mapping: str | None = None
    stopped_at: str | None = None


@dataclass
class ScriptedFlink:
    """A cluster of the TaskManagers tm-a and tm-b with labels dev_a and dev_b.

    Parameters
    ----------
    polls
        Number of answers that a savepoint is in progress.
    savepoint_fails, refuses, stuck, misplaces
        Number of savepoints that fail, of starts that are refused, that never get slots, and that
        land on the other TaskManager.
    without_uid
        Names that the Java helper reports.
    helper
        Whether the jar calls it.
    """

    polls: int = 1
    savepoint_fails: int = 0
    refuses: int = 0
    stuck: int = 0
    misplaces: int = 0
    lost_answers: int = 0
    without_uid: str = ""
    helper: bool = True
    config: dict[str, str] = field(
        default_factory=lambda: {
            "execution.checkpointing.savepoint-dir": "file:///flink/savepoints"
        }
    )
    labels: dict[str, dict[str, float]] = field(
        default_factory=lambda: {"tm-a": {"dev_a": 1000.0}, "tm-b": {"dev_b": 1000.0}}
    )
    interval: int = 2000
    checkpoint_ms: int = 70
    state_after_failure: str = "RUNNING"
    ids: dict[str, str] = field(default_factory=lambda: dict(IDS))
    jobs: dict[str, Run] = field(
        default_factory=lambda: {
            JOB: Run(hosts={"Source: src": ["tm-b"], "count": ["tm-b"], "out: Writer": ["tm-b"]})
        }
    )
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    waiting: int = 0

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve the cluster and yield its address."""
        with http_server(self._answer) as host:
            yield f"http://{host}"

    @property
    def running(self) -> dict[str, Run]:
        """The jobs that run."""
        found = {key: run for key, run in self.jobs.items() if run.state == "RUNNING"}
        return {key: run for key, run in found.items() if run.tasks == "RUNNING"}

    @property
    def changes(self) -> list[str]:
        """Method and first part of the path of all requests that change something."""
        return [f"{method} {path}" for method, path, _ in self.requests if method != "GET"]

    def _answer(self, request: BaseHTTPRequestHandler) -> Answer | None:
        length = int(request.headers.get("Content-Length", 0))
        data = request.rfile.read(length)
        is_json = request.headers.get("Content-Type", "") == "application/json"
        body = json.loads(data) if is_json and data else None
        path = request.path.partition("?")[0]
        self.requests.append((request.command, path, body))
        status, value = self._value(request.command, path, body)
        if status == 0:
            return None
        return status, json.dumps(value).encode()

    def _value(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        for pattern, answer in ROUTES.items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                if path.startswith("/jobs/") and found[1] not in self.jobs:
                    break
                value = answer(self, *found.groups(), *([body] if method == "POST" else []))
                return value if isinstance(value, tuple) else (200, value)
        return 404, {"errors": ["not found"]}

    def _cancel(self, job: str) -> Any:
        self.jobs[job].state = "CANCELED"
        return {}

    def _stop(self, job: str, body: Any) -> Any:
        self.waiting = self.polls
        return {"request-id": body["triggerId"]}

    def _job_config(self, job: str) -> Any:
        mapping = self.jobs[job].mapping
        user = {} if mapping is None else {"streamplace.mapping": mapping}
        return {"execution-config": {"user-config": user}}

    def _vertex(self, job: str, vertex: str) -> Any:
        name = next(name for name, id_ in self.ids.items() if id_ == vertex)
        hosts = self.jobs[job].hosts[name]
        return {"subtasks": [{"subtask": i, "taskmanager-id": on} for i, on in enumerate(hosts)]}

    def _task_manager(self, name: str) -> Any:
        resource = {
            "cpuCores": 1.0,
            "taskHeapMemory": 96,
            "managedMemory": 16,
            "extendedResources": self.labels[name],
        }
        slots = {"slotsNumber": 2, "freeSlots": 2, "allocatedSlots": []}
        return {"id": name, "totalResource": resource, "freeResource": resource, **slots}

    def _details(self, job: str) -> Any:
        run = self.jobs[job]
        vertices = [
            {
                "id": self.ids[name],
                "name": name,
                "status": run.tasks if run.state == "RUNNING" else run.state,
                "parallelism": len(hosts),
                "maxParallelism": 4,
            }
            for name, hosts in run.hosts.items()
        ]
        return {
            "jid": job,
            "name": "pinned",
            "state": run.state,
            "schedulerType": "Default",
            "vertices": vertices,
            "plan": self._graph({name: len(hosts) for name, hosts in run.hosts.items()}),
        }

    def _graph(self, parallelism: dict[str, int]) -> Any:
        nodes: list[Any] = []
        before: str | None = None
        for name, number in parallelism.items():
            inputs: list[Any] = [{"id": before, "ship_strategy": "HASH"}] if before else []
            before = self.ids[name]
            text = f"{name}<br/>"
            nodes.append(
                {"id": before, "parallelism": number, "description": text, "inputs": inputs}
            )
        return {"name": "pinned", "nodes": nodes}

    def _latest(self, job: str) -> Any:
        run = self.jobs[job]
        saved = {"external_path": run.stopped_at, "checkpoint_type": "SYNC_SAVEPOINT"}
        restored = None if run.restored is None else {"external_path": run.restored}
        checkpoint = {"external_path": CHECKPOINT, "end_to_end_duration": self.checkpoint_ms}
        return {
            "savepoint": saved if run.stopped_at else None,
            "restored": restored,
            "completed": checkpoint,
        }

    def _savepoint(self, job: str) -> Any:
        if self.waiting:
            self.waiting -= 1
            return {"status": {"id": "IN_PROGRESS"}, "operation": None}
        if self.savepoint_fails:
            self.savepoint_fails -= 1
            self.jobs[job].state = self.state_after_failure
            operation: Any = {"failure-cause": {"stack-trace": TRACE}}
        else:
            self.jobs[job].state, self.jobs[job].stopped_at = "FINISHED", SAVEPOINT
            operation = {"location": SAVEPOINT}
        return {"status": {"id": "COMPLETED"}, "operation": operation}

    def _plan(self, jar: str, body: Any) -> tuple[int, Any]:
        config = body["flinkConfiguration"]
        if config.get("streamplace.check") and self.helper:
            return 500, {"errors": ["", CHECKED.format(self.without_uid)]}
        return 200, {"plan": self._graph(dict.fromkeys(self.ids, 1) | _parallelism(config))}

    def _start(self, jar: str, body: Any) -> tuple[int, Any]:
        if self.refuses:
            self.refuses -= 1
            return 400, {"errors": [TRACE]}
        mapping = body.get("flinkConfiguration", {}).get("streamplace.mapping")
        counts = _parallelism({"streamplace.mapping": mapping or ""})
        run = Run(restored=body["savepointPath"], mapping=mapping)
        labels = dict(re.findall(r"@(\w+)=label dev_(\w)", mapping or ""))
        for name in self.ids:
            group = re.search(rf"^{re.escape(name)}=(\w+)", (mapping or "").replace("\\", ""), re.M)
            on = f"tm-{labels[group[1]]}" if group else "tm-b"
            if self.misplaces and group:
                on = "tm-a" if on == "tm-b" else "tm-b"
            run.hosts[name] = [on] * counts.get(name, 1)
        self.misplaces = max(self.misplaces - 1, 0)
        if self.stuck:
            self.stuck -= 1
            run.tasks = "SCHEDULED"
        self.jobs[body["jobId"]] = run
        if self.lost_answers:
            self.lost_answers -= 1
            return 0, None
        return 200, {"jobid": body["jobId"]}


def _parallelism(config: dict[str, str]) -> dict[str, int]:
    rows = re.findall(r"^(.*)=\w+, parallelism (\d+)", config["streamplace.mapping"], re.M)
    return {name.replace("\\", ""): int(number) for name, number in rows}


ROUTES: dict[str, Any] = {
    "GET /jobmanager/config": lambda self: [
        {"key": key, "value": text} for key, text in self.config.items()
    ],
    "GET /taskmanagers": lambda self: {"taskmanagers": [{"id": name} for name in self.labels]},
    "GET /taskmanagers/([^/]+)": ScriptedFlink._task_manager,
    "GET /jars": lambda self: {"files": [{"id": JAR}]},
    "POST /jars/upload": lambda self, body: {"filename": f"/flink/{JAR}", "status": "success"},
    "DELETE /jars/([^/]+)": lambda self, jar: {},
    "POST /jars/([^/]+)/plan": ScriptedFlink._plan,
    "POST /jars/([^/]+)/run": ScriptedFlink._start,
    "GET /jobs/([^/]+)": ScriptedFlink._details,
    "PATCH /jobs/([^/]+)": ScriptedFlink._cancel,
    "POST /jobs/([^/]+)/stop": ScriptedFlink._stop,
    "GET /jobs/([^/]+)/savepoints/[^/]+": ScriptedFlink._savepoint,
    "GET /jobs/([^/]+)/config": ScriptedFlink._job_config,
    "GET /jobs/([^/]+)/checkpoints": lambda self, job: {"latest": self._latest(job)},
    "GET /jobs/([^/]+)/checkpoints/config": lambda self, job: {
        "interval": self.interval,
        "timeout": 1000,
    },
    "GET /jobs/([^/]+)/exceptions": lambda self, job: {
        "exceptionHistory": {"entries": [{"stacktrace": TRACE}]}
    },
    "GET /jobs/([^/]+)/vertices/([^/]+)": ScriptedFlink._vertex,
}
"""Method and path -> what answers it."""
