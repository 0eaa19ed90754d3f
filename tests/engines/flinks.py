"""A REST API that answers as Flink's does, on loopback: a real server, with a job that counts."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.shared import engine_document

JOB = "b5d2561268990ce49fcb39ac74619d18"
Answer = tuple[int, bytes]
SUMS = ("read-records", "write-records", "read-bytes", "write-bytes", "accumulated-busy-time")
SECONDS_SEEN = 20.0  # which the sample documents count


class SampleJob:
    """The unchained sample documents, counters growing `speed` times as fast as then."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self.began = time.monotonic()
        self.plan = sample("mixed_nochain_plan")
        self.job = sample("mixed_nochain_job")
        self.vertices = sample("mixed_nochain_vertices")
        self.task_managers = sample("taskmanagers")

    def __call__(self, path: str, query: str) -> Answer:
        """Answer as Flink would."""
        if path == "/taskmanagers":
            return 200, json.dumps(self.task_managers).encode()
        if path == f"/jobs/{JOB}/plan":
            return 200, json.dumps(self.plan).encode()
        if path == f"/jobs/{JOB}":
            return 200, json.dumps(self._counted()).encode()
        for key, vertex in self.vertices.items():
            if path == f"/jobs/{JOB}/vertices/{key}":
                return 200, json.dumps(vertex["detail"]).encode()
            if path == f"/jobs/{JOB}/vertices/{key}/metrics":
                wanted = parse_qs(query)["get"][0].split(",")
                told = [
                    {"id": name, "value": str(int(float(vertex["metrics"][name]) * self._grown()))}
                    for name in wanted
                    if name in vertex["metrics"]
                ]
                return 200, json.dumps(told).encode()
        return 404, b'{"errors": ["not found"]}'

    def _grown(self) -> float:
        return 1 + (time.monotonic() - self.began) * self.speed / SECONDS_SEEN

    def _counted(self) -> dict[str, Any]:
        job: dict[str, Any] = json.loads(json.dumps(self.job))
        grown = self._grown()
        job["now"] = int(1e12 + (time.monotonic() - self.began) * 1e3)
        for vertex in job["vertices"]:
            counted = self.vertices[vertex["id"]]["detail"]["subtasks"][0]["metrics"]
            for name in SUMS:
                vertex["metrics"][name] = int(counted[name] * grown)
        return job


def sample(name: str) -> Any:
    return json.loads(engine_document(f"flink23_{name}.json"))


@contextmanager
def serving(answer: Callable[[str, str], Answer | None]) -> Iterator[str]:
    """Serve answers by path and query, and yield the address; None is silence to the end."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            found = answer(parts.path, parts.query)
            if found is None:
                over.wait(30)
                return
            self.send_response(found[0])
            self.send_header("Content-Length", str(len(found[1])))
            self.end_headers()
            self.wfile.write(found[1])

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing of clients that left."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
