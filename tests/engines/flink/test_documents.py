"""Flink's documents about jobs: states, plans, savepoints and causes."""

from typing import Any

import pytest

from streamplace.engines.flink.documents import (
    cause_of,
    job_of,
    last_cause,
    state_of,
)
from streamplace.errors import FormatError
from tests.support.flink_rest import recorded

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


def test_the_cause_is_the_last_one() -> None:
    status = recorded("stop-with-savepoint-status-failed")
    trace = status["operation"]["failure-cause"]["stack-trace"]
    cause = "IOException: Failed to create savepoint directory at file:/proc/none"
    assert last_cause(trace) == cause
    assert last_cause("") == ""
    assert cause_of(recorded("job-exceptions-lost-taskmanager"))
    assert cause_of(recorded("job-exceptions-none")) == ""
