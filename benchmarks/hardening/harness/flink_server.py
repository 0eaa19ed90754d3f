"""A loopback server that imitates Flink's REST API, with responses from one, perhaps bad, file."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KEYS = {
    ".*/plan": "plan",
    ".*/metrics": "metrics",
    ".*/vertices/.*": "vertex",
    "/taskmanagers": "taskmanagers",
    "/taskmanagers/.*": "taskmanager",
    "/jobmanager/config": "cluster",
    "/jars": "jars",
    ".*/checkpoints": "checkpoints",
    ".*/checkpoints/config": "checkpoints_config",
    ".*/config": "job_config",
}
"""Pattern of a path -> part of the file; other paths get the part "job"."""


class Server(ThreadingHTTPServer):
    """A server whose responses are parts of one file.

    A file that is not a JSON object is served whole.

    Attributes
    ----------
    file
        The content of the file; `flink_rest.TEXT` and `flink_apply.TEXT` are good ones.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.file = b""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str) -> bytes | None:
        """Return the response for a path; None if the file has none."""
        try:
            content = json.loads(self.file)
        except (ValueError, RecursionError):
            return self.file
        if not isinstance(content, dict):
            return self.file
        key = key_of(path.partition("?")[0])
        try:
            return json.dumps(content[key]).encode() if key in content else None
        except (ValueError, RecursionError):
            return self.file


@contextmanager
def serving() -> Iterator[Server]:
    """Serve until the end of the block."""
    with Server() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        response = self.server.answer(self.path)
        with suppress(ConnectionError):  # the client has closed the connection
            self.send_response(404 if response is None else 200)
            self.end_headers()
            self.wfile.write(response or b"")

    def log_message(self, *arguments: Any) -> None:
        """Write no log."""


def key_of(path: str) -> str:
    """Return the part of a file that is the response for a path."""
    for pattern, key in KEYS.items():
        if re.fullmatch(pattern, path):
            return key
    return "job"
