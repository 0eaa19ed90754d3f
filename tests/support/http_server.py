"""An HTTP server on loopback."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Answer = tuple[int, bytes]
"""Status and body; the body of a redirect is its target."""


@contextmanager
def http_server(answer: Callable[[BaseHTTPRequestHandler], Answer | None]) -> Iterator[str]:
    """Answer requests, and yield host and port; None lets the client wait."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answer(self)
            if found is None:
                over.wait(30)
                return
            self.send_response(found[0])
            if found[0] == HTTPStatus.FOUND:
                self.send_header("Location", found[1].decode())
            self.send_header("Content-Length", str(len(found[1])))
            self.end_headers()
            self.wfile.write(found[1])

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    for method in ("POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.do_GET)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignore clients that left."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
