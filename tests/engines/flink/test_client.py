"""Wrong ids of jobs, faults of the server that are no wrong ids, and recorded documents."""

import json
from typing import Any

import pytest

from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import Room, task_manager, task_managers_of
from streamplace.engines.flink.documents import (
    cause_of,
    checkpoint_settings,
    job_of,
    last_cause,
    state_of,
)
from streamplace.engines.flink.poll import Watch
from streamplace.errors import BackendError, FormatError, UsageError
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
CONFIG: dict[str, Any] = {"execution-config": {"user-config": {}}}


def test_a_running_job() -> None:
    job = job_of(
        state_of(recorded("job-details-running")),
        recorded("job-config"),
        recorded("checkpoints"),
        recorded("checkpoints-config"),
    )
    assert (job.runs, job.ended, job.scheduler) == (True, False, "Default")
    assert {name: v.parallelism for name, v in job.vertex_of.items()} == {
        "Source: src": 1,
        "count": 2,
        "out: Writer": 1,
    }
    assert {v.max_parallelism for v in job.vertices.values()} == {120}
    assert (job.mapping, job.checkpoint_timeout_s, job.stopped_at) == (None, 600.0, None)


def test_a_job_that_says_running_but_waits_for_slots() -> None:
    job = job_of(state_of(recorded("job-details-label-nobody-has")), CONFIG, None, None)
    assert job.state == "RUNNING"
    assert not job.runs


def test_a_fault_in_the_plan_names_where_it_was_read() -> None:
    details = recorded("job-details-running")
    details["plan"]["nodes"][0]["id"] = 7
    where = "http://127.0.0.1:8081/jobs/0a"
    with pytest.raises(FormatError, match=f"^{where}: plan: nodes\\[0\\].id: must be a string"):
        state_of(details, where)


def test_a_job_started_from_a_savepoint() -> None:
    details = recorded("job-details-running-from-savepoint")
    job = job_of(state_of(details), CONFIG, recorded("checkpoints-after-restore"), None)
    assert job.restored_from == "file:/flink/savepoints/savepoint-0cb345-a43b1f210b74"
    assert job.checkpoint_timeout_s is None


def test_the_mapping_of_a_job_is_published() -> None:
    config = {"execution-config": {"user-config": {"streamplace.mapping": "a=pe0"}}}
    assert job_of(state_of(recorded("job-details-running")), config, None, None).mapping == "a=pe0"


def test_only_a_stopping_savepoint_of_a_finished_job_counts() -> None:
    statistics = recorded("checkpoints")
    saved = {"external_path": "file:/s", "checkpoint_type": "SYNC_SAVEPOINT"}
    finished = recorded("job-details-finished-by-stop")
    statistics["latest"]["savepoint"] = saved
    assert job_of(state_of(finished), CONFIG, statistics, None).stopped_at == "file:/s"
    assert (
        job_of(state_of(recorded("job-details-running")), CONFIG, statistics, None).stopped_at
        is None
    )
    saved["checkpoint_type"] = "SAVEPOINT"
    assert job_of(state_of(finished), CONFIG, statistics, None).stopped_at is None


def test_what_the_job_holds_is_room() -> None:
    value = recorded("taskmanager-with-external-resource")
    holder = value["allocatedSlots"][0]["jobId"]
    mine, other = task_manager(value, holder), task_manager(value, "other")
    assert other.room == Room(0.8, 80, 14, {"dev_b": 6.0})
    assert mine.room == Room(1.0, 96, 16, {"dev_b": 8.0})
    assert (mine.free_slots, other.free_slots, mine.slots) == (2, 0, 2)
    assert mine.total.labels == {"dev_b": 8.0}


def test_the_cause_is_the_last_one() -> None:
    status = recorded("stop-with-savepoint-status-failed")
    trace = status["operation"]["failure-cause"]["stack-trace"]
    cause = "IOException: Failed to create savepoint directory at file:/proc/none"
    assert last_cause(trace) == cause
    assert last_cause("") == ""
    assert cause_of(recorded("job-exceptions-lost-taskmanager"))
    assert cause_of(recorded("job-exceptions-none")) == ""


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
