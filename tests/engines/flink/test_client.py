"""Wrong ids of jobs, faults of the server that are no wrong ids, and checkpoint settings."""

import json
from typing import Any

import pytest

from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import Room, task_manager, task_managers_of
from streamplace.engines.flink.documents import (
    checkpoint_settings,
)
from streamplace.engines.flink.poll import Watch
from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.rest import RefusedError, Server
from tests.support.flink_api import serving
from tests.support.flink_rest import recorded
from tests.support.flink_server.checkpoint_documents import config
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink
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


def test_a_configuration_that_cannot_be_read_is_a_fault() -> None:
    """Before Flink 2.3, only the configuration names the scheduler."""
    flink = ScriptedFlink(scheduler="Adaptive", version="1.20.5")
    flink.faults = [Fault(Effect.ERROR, "GET /jobmanager/config", times=1)]
    with flink.serving() as url:
        client = Client(Server(url), 5)
        assert client.state(JOB).runs
        with pytest.raises(BackendError, match="HTTP 500"):
            client.job(JOB)
        assert client.job(JOB).is_adaptive


PREFIX = "execution.checkpointing."


def test_what_the_job_holds_is_room() -> None:
    value = recorded("taskmanager-with-external-resource")
    holder = value["allocatedSlots"][0]["jobId"]
    mine, other = task_manager(value, holder), task_manager(value, "other")
    assert other.room == Room(0.8, 80, 14, {"dev_b": 6.0})
    assert mine.room == Room(1.0, 96, 16, {"dev_b": 8.0})
    assert (mine.free_slots, other.free_slots, mine.slots) == (2, 0, 2)
    assert mine.total.labels == {"dev_b": 8.0}


def settings(**changes: Any) -> dict[str, str]:
    """Return the settings without the prefix that all their names have."""
    found = checkpoint_settings(config(2000, 600_000, True) | changes)
    assert all(name.startswith(PREFIX) for name in found)
    return {name.removeprefix(PREFIX): text for name, text in found.items()}


def test_another_job_gets_the_same_checkpoints() -> None:
    assert settings(min_pause=500, mode="at_least_once") == {
        "interval": "2000 ms",
        "timeout": "600000 ms",
        "min-pause": "500 ms",
        "mode": "AT_LEAST_ONCE",
        "externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }


def test_checkpoints_that_are_deleted_with_their_job_stay_so() -> None:
    for kept in (None, {"enabled": True, "delete_on_cancellation": True}):
        assert "externalized-checkpoint-retention" not in settings(externalization=kept)


def test_a_job_without_checkpoints_continues_without() -> None:
    assert settings(interval=2**63 - 1) == settings(interval=-1) == {}
    assert checkpoint_settings(None) == {}


def test_servers_that_say_little() -> None:
    assert checkpoint_settings({"interval": 5}) == {f"{PREFIX}interval": "5 ms"}


def test_a_list_that_leaves_out_resources_still_has_slots() -> None:
    row = {"id": "tm", "slotsNumber": 4, "freeSlots": 1}
    (found,) = task_managers_of({"taskmanagers": [row]})
    assert (found.id, found.slots, found.free_slots) == ("tm", 4, 1)
    assert found.total == found.room == Room()
