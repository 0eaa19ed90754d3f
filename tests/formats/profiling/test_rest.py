"""Addresses of REST servers: copied from a browser, or with a password."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.rest import GoneError, RefusedError, Server, parse_answer
from tests.support.http_server import Answer, http_server

SECRET = "s3cr%3At"  # with its colon escaped


@contextmanager
def guarded() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve JSON to the right user and password; yield the host and the requests."""
    requests: list[tuple[str, str]] = []
    expected = "Basic " + base64.b64encode(b"me:s3cr:t").decode()

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        sent = request.headers.get("Authorization", "")
        requests.append((request.path, sent))
        return 200 if sent == expected else 401, b"{}"

    with http_server(answer) as host:
        yield host, requests


@pytest.mark.parametrize(
    ("tail", "base"),
    [
        ("", ""),
        ("/", ""),
        ("/#/overview", ""),
        ("/proxy/#/job/1", "/proxy"),
        ("/?tab=1", ""),
        ("#", ""),
    ],
)
def test_address_from_a_browser(tail: str, base: str) -> None:
    with guarded() as (host, requests):
        server = Server(f"http://me:{SECRET}@{host}{tail}")
        assert server.get("/jobs", 5) == {}
    assert server.url == f"http://{host}{base}"
    assert [path for path, _ in requests] == [f"{base}/jobs"]


def test_the_password_is_sent_to_the_server_but_not_shown_in_messages() -> None:
    with guarded() as (host, requests):
        with pytest.raises(BackendError, match=r"HTTP 401 .*; check the user and") as refused:
            Server(f"http://me:guess-nobody@{host}").get("/jobs", 5)
        with pytest.raises(BackendError, match=r"HTTP 401 .*; put user:password@ before"):
            Server(f"http://{host}").get("/jobs", 5)
    assert requests[-1][1] == ""
    with pytest.raises(BackendError) as gone:
        Server(f"http://me:guess-nobody@{host}").get("/jobs", 5)
    assert "guess" not in f"{refused.value} {gone.value}"


@pytest.mark.parametrize(
    "url", ["ftp://me:guess@h", "me:guess@h:80", "http://me:guess@h:x", "http://a/b:guess@h\n"]
)
def test_errors_about_addresses_hide_the_password(url: str) -> None:
    with pytest.raises(UsageError, match="is not an address") as caught:
        Server(url)
    assert "guess" not in str(caught.value)


def test_requests_with_a_body() -> None:
    received: list[tuple[str, str, bytes]] = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        received.append((request.command, request.headers.get("Content-Type", ""), body))
        return 202, b'{"request-id": "1"}' if request.command == "POST" else b""

    with http_server(answer) as host:
        server = Server(f"http://{host}")
        assert server.send("POST", "/jobs/1/stop", {"drain": False}, 5) == {"request-id": "1"}
        assert server.send("PATCH", "/jobs/1", None, 5) is None
        assert server.send("DELETE", "/jars/1", None, 5) is None
    assert received[0] == ("POST", "application/json", b'{"drain": false}')
    assert [(method, body) for method, _, body in received[1:]] == [("PATCH", b""), ("DELETE", b"")]


def test_a_refusal_keeps_the_servers_words() -> None:
    with http_server(lambda request: (500, b'{"errors": ["no slots"]}')) as host:
        with pytest.raises(RefusedError, match=r"HTTP 500 .* for /jars/1/run") as refused:
            Server(f"http://{host}").send("POST", "/jars/1/run", {}, 5)
        assert "no slots" in refused.value.answer
    with http_server(lambda request: (404, b"{}")) as host, pytest.raises(GoneError):
        Server(f"http://{host}").get("/jobs/1", 5)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ((404, b"<html>"), "HTTP 404 Not Found for /jobs"),
        ((200, b"<html>"), "is an HTML page; expected JSON"),
    ],
)
def test_the_address_may_be_wrong_before_the_first_answer(answer: Answer, fault: str) -> None:
    answers = iter([answer, (200, b"{}"), answer])
    with http_server(lambda request: next(answers)) as host:
        server = Server(f"http://{host}", "Storm's UI")
        with pytest.raises(BackendError, match=f"{fault}; is this the address of Storm's UI.$"):
            server.get("/jobs", 5)
        server.get("/jobs", 5)
        with pytest.raises(BackendError, match=f"{fault}$"):
            server.get("/jobs", 5)


def test_a_redirect_to_a_login_page_is_named() -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        return (200, b"<html>") if "login" in request.path else (302, b"/login?next=jobs")

    with http_server(answer) as host:
        page = re.escape(f"http://{host}/login?next=jobs")
        with pytest.raises(
            BackendError, match=f"an HTML page.*; the server redirects to '{page}'; is"
        ):
            Server(f"http://{host}").get("/jobs", 5)
    loop = pytest.raises(RefusedError, match=r"HTTP 302 redirect to '/jobs' for /jobs$")
    with http_server(lambda request: (302, b"/jobs")) as host, loop:
        Server(f"http://{host}").get("/jobs", 5)


def test_what_to_do_about_a_server_that_does_not_answer() -> None:
    with pytest.raises(BackendError) as refused:
        Server("http://127.0.0.1:1").get("/jobs", 5)
    assert str(refused.value) == (
        "http://127.0.0.1:1: Connection refused for /jobs; check the address and that the server "
        "is running"
    )


@pytest.mark.parametrize("half", [r"\ud83d", r"\uDE00"])
def test_half_of_a_surrogate_pair_is_no_answer(half: str) -> None:
    """An identifier is part of later requests, which cannot be encoded with it."""
    assert parse_answer(rb'{"id": "\ud83d\uDE00"}', "/jobs") == {"id": "\U0001f600"}
    with pytest.raises(BackendError, match=r"^/jobs: a text in the answer is not valid Unicode$"):
        parse_answer(f'{{"id": "{half}"}}'.encode(), "/jobs")


def test_a_lost_answer_is_no_refusal() -> None:
    within = pytest.raises(BackendError, match=r"within 0\.1 s")
    with http_server(lambda request: None) as host, within as lost:
        Server(f"http://{host}").send("POST", "/jars/1/run", {}, 0.1)
    assert not isinstance(lost.value, RefusedError)


def test_an_upload_is_a_form(tmp_path: Path) -> None:
    file = tmp_path / 'a "b".jar'
    file.write_bytes(b"\x00\r\n--\xff")
    parts: list[Message] = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        parts.extend(message_from_bytes(head + body).get_payload())  # type: ignore[arg-type]
        return 200, b'{"filename": "/x/1_a.jar"}'

    with http_server(answer) as host:
        server = Server(f"http://{host}")
        assert server.upload("/jars/upload", "jarfile", file, "application/x-java-archive", 5)
        with pytest.raises(OSError, match="none"):
            server.upload("/jars/upload", "jarfile", tmp_path / "none", "x/y", 5)
    (part,) = parts
    assert part.get_param("name", header="content-disposition") == "jarfile"
    assert part.get_payload(decode=True) == file.read_bytes()
