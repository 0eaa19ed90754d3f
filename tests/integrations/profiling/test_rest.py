"""Addresses of REST servers: copied from a browser, or with a password."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from streamplace.errors import BackendError, UsageError
from streamplace.integrations.profiling.rest import Server
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
        with pytest.raises(BackendError, match="HTTP 401") as refused:
            Server(f"http://me:guess-nobody@{host}").get("/jobs", 5)
        with pytest.raises(BackendError, match="HTTP 401"):
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
