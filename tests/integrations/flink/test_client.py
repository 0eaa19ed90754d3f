"""Wrong ids of jobs, and faults of the server that are no wrong ids."""

import json

import pytest

from streamplace.errors import BackendError, UsageError
from streamplace.integrations.flink.client import Client
from streamplace.integrations.flink.poll import Watch
from streamplace.integrations.profiling.rest import RefusedError, Server
from tests.support.flink_api import serving
from tests.support.http_server import Answer


def answer(path: str, query: str) -> Answer:
    """Return two jobs, of which one runs; and what Flink answers to an id that is none."""
    if path != "/jobs/overview":
        return 400, b'{"errors": ["Bad request, could not parse parameters"]}'
    rows = [("one", "RUNNING"), ("two", "FINISHED")]
    jobs = [{"jid": job, "name": "words", "state": state} for job, state in rows]
    return 200, json.dumps({"jobs": jobs}).encode()


def test_a_job_that_the_server_lists() -> None:
    fault = RefusedError("HTTP 500")
    with serving(answer) as url:
        client = Client(Server(url), 5)
        client.check_job("two")
        assert client.refusal("two", fault) is fault
        assert isinstance(client.refusal("three", fault), UsageError)


def test_an_id_that_is_none_is_refused_at_once() -> None:
    with (
        serving(answer) as url,
        pytest.raises(UsageError, match=r"no job 'deadbeef'; running: one \(words\)$"),
    ):
        Watch(Server(url), "deadbeef", 600).run(0)


def test_without_a_running_job() -> None:
    empty = serving(lambda path, query: (200, b'{"jobs": []}'))
    with empty as url, pytest.raises(UsageError, match=r"no job 'x'; no job runs there$"):
        Client(Server(url), 5).check_job("x")


def test_a_server_without_a_list_has_its_own_fault() -> None:
    fault = RefusedError("HTTP 404")
    with serving(lambda path, query: (200, b"[]")) as url:
        with pytest.raises(BackendError, match="unexpected answer"):
            Client(Server(url), 5).check_job("x")
        assert Client(Server(url), 5).refusal("x", fault) is fault
