"""A loopback server that plays a Flink cluster with one job, and replays failures."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.flink_server import checkpoint_documents as checkpoints
from tests.support.flink_server import cluster_documents as clusters
from tests.support.flink_server import job_documents as jobs
from tests.support.flink_server import requirements
from tests.support.flink_server.checkpoint_documents import SAVEPOINT, TRACE
from tests.support.flink_server.cluster import ScriptedCluster
from tests.support.flink_server.faults import Effect
from tests.support.flink_server.runs import Run
from tests.support.flink_server.starts import counts_in, hosts_in
from tests.support.http_server import Answer, http_server

JAR = "c25a26c1-b181-42be-99be-433960ee19fe_job.jar"
CHECKED = "StreamplaceMapping: checked, without uid: [{}]\\n\\tat"
LATE = 3  # requests until the effect of one that was late
Reply = tuple[int, Any]
"""Status and JSON value."""


@dataclass
class ScriptedFlink(ScriptedCluster):
    """A scripted cluster with a REST API on loopback."""

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve the cluster and yield its address."""
        with http_server(self._answer) as host:
            yield f"http://{host}"

    def _answer(self, request: BaseHTTPRequestHandler) -> Answer | None:
        length = int(request.headers.get("Content-Length", 0))
        data = request.rfile.read(length)
        is_json = request.headers.get("Content-Type", "") == "application/json"
        body = json.loads(data) if is_json and data else None
        path, _, query = request.path.partition("?")
        with self.lock:
            self.requests.append((request.command, path, body))
            effects = [f.effect for f in self.faults if f.hits(f"{request.command} {path}")]
            effect = effects[0] if effects else None
            self._take_effect()
            if effect == Effect.SLOW:
                return None
            if effect == Effect.REFUSED:
                raise ConnectionResetError
            if effect == Effect.ERROR:
                return 500, json.dumps({"errors": ["Internal server error."]}).encode()
            if effect == Effect.HIDDEN:
                return 404, b"<html>Not Found</html>"
            if effect == Effect.LATE:
                later = request.command, path, query, body
                self.late.append((len(self.requests) + LATE, later))
                return 504, b"<html>Gateway Timeout</html>"
            self.advance()
            status, value = self._value(request.command, path, query, body)
        if status == 0 or effect == Effect.LOST:
            return None
        return status, b"<html>" if effect == Effect.GARBLED else json.dumps(value).encode()

    def _take_effect(self) -> None:
        """Let requests that were late have their effect, once it is their time."""
        while self.late and self.late[0][0] <= len(self.requests):
            self.advance()
            self._value(*self.late.pop(0)[1])

    def _value(self, method: str, path: str, query: str, body: Any) -> Reply:
        for pattern, answer in ROUTES.items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                if path.startswith("/jobs/") and found.groups() and found[1] not in self.jobs:
                    break
                more = [body] if method in ("POST", "PUT") else [query] if "metrics" in path else []
                value = answer(self, *found.groups(), *more)
                return value if isinstance(value, tuple) else (200, value)
        return 404, {"errors": ["not found"]}

    def _details(self, job: str) -> Any:
        run = self.jobs[job]
        found = jobs.details(
            job, run, self.ids, self.scheduler_type, self.clock(), self.fixed, self.bare
        )
        self.fetch(run)
        if run.rescales_after:
            run.rescales_after -= 1
            self._rescale(run)
        return found

    def _vertex(self, job: str, vertex: str) -> Any:
        run, name = self.jobs[job], self.name_of(vertex)
        return jobs.vertex(name, run, vertex, self.clock(), self.bare)

    def _metrics(self, job: str, vertex: str, query: str) -> Any:
        """Return the tuples that wait, the only metric of operators that there is."""
        names = query.removeprefix("get=").replace("%2C", ",").split(",")
        wanted = [name for name in names if name.endswith("pendingRecords")]
        if not (self.reports_waiting and self.name_of(vertex).startswith("Source")):
            return []
        each = self.jobs[job].fetched_waiting / max(len(wanted), 1)
        return [{"id": name, "value": str(each)} for name in wanted]

    def _task_manager(self, name: str, details: bool = True) -> Any:
        if name not in self.labels:
            return 404, {"errors": ["not found"]}
        return clusters.task_manager(name, self.labels[name], self.holders(name), details)

    def _cancel(self, job: str) -> Any:
        if self.jobs[job].state in ("RUNNING", "RESTARTING"):
            self.jobs[job].state = "CANCELED"
        return 202, {}

    def _stop(self, job: str, body: Any) -> Any:
        self.waiting = self.polls
        self.triggers[body["triggerId"]] = job
        return 202, {"request-id": body["triggerId"]}

    def _savepoint(self, job: str, trigger: str) -> Any:
        if self.triggers.get(trigger) != job:
            return 404, {"errors": ["There is no savepoint operation with triggerId"]}
        run = self.jobs[job]
        if run.stopped_at is not None:
            return checkpoints.completed(run.stopped_at)
        if self.waiting:
            self.waiting -= 1
            return checkpoints.in_progress()
        if self.savepoint_fails or run.state != "RUNNING":
            self.savepoint_fails = max(self.savepoint_fails - 1, 0)
            run.state = self.state_after_failure if run.state == "RUNNING" else run.state
            return checkpoints.failed()
        run.state, run.stopped_at = "FINISHED", SAVEPOINT
        return checkpoints.completed(SAVEPOINT)

    def _statistics(self, job: str) -> Any:
        at_s = self.clock() - self.checkpoint_age_s
        return checkpoints.statistics(self.jobs[job], self.checkpoint_ms, at_s, self.state_bytes)

    def _plan(self, jar: str, body: Any) -> Reply:
        config = body["flinkConfiguration"]
        if config.get("streamplace.check") and self.helper:
            return 500, {"errors": ["", CHECKED.format(self.without_uid)]}
        counts = dict.fromkeys(self.ids, 1) | counts_in(config["streamplace.mapping"])
        return 200, {"plan": jobs.plan("", self.ids, counts)}

    def _start(self, jar: str, body: Any) -> Reply:
        if self.refuses:
            self.refuses -= 1
            return 400, {"errors": [TRACE]}
        job = body["jobId"]
        if job in self.jobs:
            return 500, {"errors": ["Job has already been submitted."]}
        mapping = body.get("flinkConfiguration", {}).get("streamplace.mapping")
        hosts = hosts_in(mapping or "", self.ids, self.labels)
        if self.ignores:
            self.ignores -= 1
            hosts = {name: on[:1] for name, on in hosts.items()}
        if self.misplaces and mapping:
            self.misplaces -= 1
            names = list(self.labels)
            other = {name: names[i - 1] for i, name in enumerate(names)}
            hosts = {name: [other[each] for each in on] for name, on in hosts.items()}
        run = Run(hosts=hosts, restored=body["savepointPath"], mapping=mapping)
        run.started_s, run.slower = self.clock(), self.load.slower
        if self.stuck:
            self.stuck -= 1
            run.tasks = "SCHEDULED"
        self.jobs[job] = run
        if self.lost_answers:
            self.lost_answers -= 1
            return 0, None
        return 200, {"jobid": job, "applicationId": job}

    def _requirements(self, job: str) -> Any:
        if self.scheduler != "Adaptive":
            return 500, {"errors": ["Internal server error.", requirements.UNSUPPORTED]}
        run = self.jobs[job]
        bounds = {
            self.ids[name]: run.requirements.get(name, (1, n))
            for name, n in run.parallelism.items()
        }
        return requirements.document(bounds)

    def _require(self, job: str, body: Any) -> Any:
        if fault := requirements.fault_of(body, self.ids):
            return 400, {"errors": [f"RestHandlerException: {fault}"]}
        if self.scheduler != "Adaptive":
            return 500, {"errors": ["Internal server error.", requirements.UNSUPPORTED]}
        run = self.jobs[job]
        for name, vertex in self.ids.items():
            each = body[vertex]["parallelism"]
            run.requirements[name] = each["lowerBound"], each["upperBound"]
        if self.ignores:
            self.ignores -= 1
            return {}
        self._rescale_later(run)
        return {}

    def _rescale_later(self, run: Run) -> None:
        """Give a job its numbers when a checkpoint ends; Flink 1 does so at once."""
        run.rescales_after = 0 if self.version.startswith("1.") else self.until_checkpoint
        self._rescale(run)

    def _rescale(self, run: Run) -> None:
        """Give a job the numbers of instances that it requires, once there are slots for them."""
        if run.rescales_after:
            return
        machines = list(self.labels)
        wanted = {name: most for name, (_, most) in run.requirements.items()}
        others = [each for each in self.running.values() if each is not run]
        taken = sum(max(each.parallelism.values()) for each in others)
        if wanted != run.parallelism and max(wanted.values()) + taken <= clusters.SLOTS * len(
            machines
        ):
            hosts = {n: [machines[i % len(machines)] for i in range(k)] for n, k in wanted.items()}
            run.move(hosts, self.clock())

    def join(self, task_manager: str) -> None:
        """Add a TaskManager without labels, for whose slots jobs may have waited."""
        with self.lock:
            self.labels[task_manager] = {}
            for run in self.running.values():
                if run.requirements:
                    self._rescale_later(run)


ROUTES: dict[str, Any] = {
    "GET /jobmanager/config": lambda self: [
        {"key": key, "value": text}
        for key, text in {**self.config, **self.scheduler_option}.items()
    ],
    "GET /config": lambda self: {"flink-version": self.version},
    "GET /taskmanagers": lambda self: {
        "taskmanagers": [self._task_manager(name, details=False) for name in self.labels]
    },
    "GET /taskmanagers/([^/]+)": ScriptedFlink._task_manager,
    "GET /jars": lambda self: clusters.jars(JAR),
    "POST /jars/upload": lambda self, body: {"filename": f"/flink/{JAR}", "status": "success"},
    "DELETE /jars/([^/]+)": lambda self, jar: {},
    "POST /jars/([^/]+)/plan": ScriptedFlink._plan,
    "POST /jars/([^/]+)/run": ScriptedFlink._start,
    "GET /jobs/overview": lambda self: jobs.overview(self.jobs),
    "GET /jobs/([^/]+)": ScriptedFlink._details,
    "GET /jobs/([^/]+)/plan": lambda self, job: {
        "plan": jobs.plan(job, self.ids, self.jobs[job].parallelism)
    },
    "PATCH /jobs/([^/]+)": ScriptedFlink._cancel,
    "POST /jobs/([^/]+)/stop": ScriptedFlink._stop,
    "GET /jobs/([^/]+)/savepoints/([^/]+)": ScriptedFlink._savepoint,
    "GET /jobs/([^/]+)/config": lambda self, job: jobs.config(job, self.jobs[job]),
    "GET /jobs/([^/]+)/checkpoints": ScriptedFlink._statistics,
    "GET /jobs/([^/]+)/checkpoints/config": lambda self, job: checkpoints.config(
        self.interval, self.timeout_ms, self.keeps_checkpoints
    ),
    "GET /jobs/([^/]+)/checkpoints/details/6": lambda self, job: {
        "tasks": {self.ids["count"]: {"state_size": self.state_bytes}}
    },
    "GET /jobs/([^/]+)/exceptions": lambda self, job: {
        "exceptionHistory": {"entries": [{"stacktrace": TRACE}], "truncated": False}
    },
    "GET /jobs/([^/]+)/resource-requirements": ScriptedFlink._requirements,
    "PUT /jobs/([^/]+)/resource-requirements": ScriptedFlink._require,
    "GET /jobs/([^/]+)/vertices/([^/]+)": ScriptedFlink._vertex,
    "GET /jobs/([^/]+)/vertices/([^/]+)/metrics": ScriptedFlink._metrics,
}
"""Method and path -> what answers it."""
