"""A loopback server with the REST API of Flink and a job whose counters grow."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import Answer, http_server
from tests.support.released_data import engine_document

JOB_ID = "b5d2561268990ce49fcb39ac74619d18"
SUMS = ("read-records", "write-records", "read-bytes", "write-bytes", "accumulated-busy-time")
OBSERVED_SECONDS = 20.0  # covered by the counters of the sample documents


class SampleJob:
    """The unchained sample job, with counters that grow `speed` times as fast as recorded.

    They are read when the job's document is requested, so that all answers up to the next request
    for it are of the same moment, however slow the machine is.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self.began = time.monotonic()
        self.elapsed_s = 0.0
        self.plan = sample_document("mixed_nochain_plan")
        self.job = sample_document("mixed_nochain_job")
        self.vertices = sample_document("mixed_nochain_vertices")
        self.task_managers = sample_document("taskmanagers")

    def __call__(self, path: str, query: str) -> Answer:
        """Return Flink's answer."""
        jobs = {"jobs": [{"jid": JOB_ID, "name": "mixed", "state": "RUNNING"}]}
        fixed = {"/taskmanagers": self.task_managers, "/jobs/overview": jobs}
        fixed[f"/jobs/{JOB_ID}/plan"] = self.plan
        if path in fixed:
            return 200, json.dumps(fixed[path]).encode()
        if path == f"/jobs/{JOB_ID}":
            return 200, json.dumps(self._counted()).encode()
        for key, vertex in self.vertices.items():
            if path == f"/jobs/{JOB_ID}/vertices/{key}":
                return 200, json.dumps(vertex["detail"]).encode()
            if path == f"/jobs/{JOB_ID}/vertices/{key}/metrics":
                requested = parse_qs(query)["get"][0].split(",")
                metrics = [
                    {"id": name, "value": str(int(float(vertex["metrics"][name]) * self._grown()))}
                    for name in requested
                    if name in vertex["metrics"]
                ]
                return 200, json.dumps(metrics).encode()
        return 404, b'{"errors": ["not found"]}'

    def _grown(self) -> float:
        return 1 + self.elapsed_s * self.speed / OBSERVED_SECONDS

    def _counted(self) -> dict[str, Any]:
        job: dict[str, Any] = json.loads(json.dumps(self.job))
        self.elapsed_s = time.monotonic() - self.began
        grown = self._grown()
        job["now"] = int(1e12 + self.elapsed_s * 1e3)
        for vertex in job["vertices"]:
            counted = self.vertices[vertex["id"]]["detail"]["subtasks"][0]["metrics"]
            for name in SUMS:
                vertex["metrics"][name] = int(counted[name] * grown)
        return job


def sample_document(name: str) -> Any:
    """Return a document that Flink 2.3 served."""
    return json.loads(engine_document(f"flink23_{name}.json"))


@contextmanager
def serving(answer: Callable[[str, str], Answer | None]) -> Iterator[str]:
    """Serve answers by path and query, and yield the address; None lets the client wait."""

    def by_path(request: BaseHTTPRequestHandler) -> Answer | None:
        parts = urlsplit(request.path)
        return answer(parts.path, parts.query)

    with http_server(by_path) as host:
        yield f"http://{host}"
