"""The part of Kubernetes' API that kube-scheduler uses, on loopback."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]
KINDS = {"nodes": "Node", "pods": "Pod", "namespaces": "Namespace"}
WATCHED_S = 0.5  # after which an idle watch looks whether the server has closed


class Api:
    """Nodes, pods and the namespace `default`; lists of other kinds are empty.

    Bindings set the node of a pod, and changes of a pod's status replace its conditions, as in the
    API server. Nothing is validated.
    """

    def __init__(self) -> None:
        self.client = ""
        """What the last client called itself, such as ``kube-scheduler/v1.34.1 …``."""
        self._objects: dict[str, dict[str, Object]] = {kind: {} for kind in KINDS}
        self._journal: list[tuple[str, Object]] = []
        """Kind and event of each change; its index + 1 is the version."""
        self._changed = threading.Condition()
        self._closed = False
        self.put("namespaces", {"metadata": {"name": "default"}})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    def __enter__(self) -> Self:
        """Answer requests."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the server and its watches."""
        self._closed = True
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def put(self, kind: str, content: Object) -> None:
        """Add an object, or replace the one of the same name."""
        name = content["metadata"]["name"]
        with self._changed:
            event = "MODIFIED" if name in self._objects[kind] else "ADDED"
            self._change(kind, event, content)

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        with self._changed:
            self._change(kind, "DELETED", self._objects[kind][name])

    def get(self, kind: str, name: str) -> Object:
        """Return an object, or an empty one if it does not exist."""
        with self._changed:
            return self._objects[kind].get(name, {})

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        with self._changed:
            return [*self._objects[kind]]

    def wait(self, is_reached: Callable[[], bool], seconds: float) -> bool:
        """Wait until changes have led to a state; return whether they have in time."""
        with self._changed:
            return self._changed.wait_for(is_reached, seconds)

    def listed(self, kind: str) -> Object:
        """Return the list of all objects of a kind."""
        with self._changed:
            items = [*self._objects.get(kind, {}).values()]
            return {"metadata": {"resourceVersion": str(len(self._journal))}, "items": items}

    def events(self, kind: str, version: int) -> Iterator[Object | None]:
        """Yield the changes of a kind after a version, and None after a while without any."""
        while not self._closed:
            with self._changed:
                if len(self._journal) == version:
                    self._changed.wait(WATCHED_S)
                news = self._journal[version:]
            version += len(news)
            yield from (event for changed, event in news if changed == kind) if news else [None]

    def bind(self, name: str, node: str) -> None:
        """Set the node of a pod."""
        bound = {"nodeName": node}
        self._edit_pod(name, lambda pod: {**pod, "spec": pod["spec"] | bound, "status": {}})

    def report(self, name: str, status: Object) -> None:
        """Replace the conditions of a pod."""
        new = {"conditions": status.get("conditions", []), "phase": "Pending"}
        self._edit_pod(name, lambda pod: {**pod, "status": new})

    def _edit_pod(self, name: str, edit: Callable[[Object], Object]) -> None:
        with self._changed:
            if name in self._objects["pods"]:
                self._change("pods", "MODIFIED", edit(self._objects["pods"][name]))

    def _change(self, kind: str, event: str, content: Object) -> None:
        """Record a change; the caller holds the lock."""
        name, version = content["metadata"]["name"], str(len(self._journal) + 1)
        own = {"uid": version, "namespace": "default" if kind == "pods" else ""}
        made = {
            **content,
            "apiVersion": "v1",
            "kind": KINDS[kind],
            "metadata": {**own, **content["metadata"], "resourceVersion": version},
        }
        if event == "DELETED":
            del self._objects[kind][name]
        else:
            self._objects[kind][name] = made
        self._journal.append((kind, {"type": event, "object": made}))
        self._changed.notify_all()


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            api.client = self.headers.get("User-Agent", "")
            address = urlsplit(self.path)
            kind, query = address.path.rsplit("/", 1)[-1], parse_qs(address.query)
            if "sendInitialEvents" in query:  # which clients can do without
                refused = {"apiVersion": "v1", "kind": "Status", "status": "Failure"}
                self._answer(422, refused | {"reason": "Invalid"})
            elif "watch" in query:
                self._watch(kind, int(query["resourceVersion"][0]))
            else:
                self._answer(200, api.listed(kind))

        def do_POST(self) -> None:
            sent, parts = self._sent(), urlsplit(self.path).path.split("/")
            if parts[-1] == "binding":
                api.bind(parts[-2], sent["target"]["name"])
            self._answer(201, sent)

        def do_PATCH(self) -> None:
            sent, parts = self._sent(), urlsplit(self.path).path.split("/")
            if parts[-3:-2] + parts[-1:] != ["pods", "status"]:
                self._answer(200, sent)
                return
            api.report(parts[-2], sent["status"])
            self._answer(200, api.get("pods", parts[-2]))

        def _sent(self) -> Object:
            read: Object = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return read

        def _answer(self, status: int, content: Object) -> None:
            self._begin(status)
            self.wfile.write(json.dumps(content).encode())

        def _begin(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()

        def _watch(self, kind: str, version: int) -> None:
            self._begin(200)
            try:
                for event in api.events(kind, version):
                    if event:
                        self.wfile.write(json.dumps(event).encode() + b"\n")
                        self.wfile.flush()
            except OSError:
                return  # the client has gone

    return Handler
