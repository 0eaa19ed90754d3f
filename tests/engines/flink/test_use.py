"""The use of CPU time by a Flink job, from recorded documents and a server."""

import json
from dataclasses import replace
from typing import Any

import pytest

from streamplace import Cluster, Device, Operator, StreamGraph
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.documents import counters
from streamplace.engines.flink.use import observe, parts
from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.profile import Part
from streamplace.formats.profiling.rest import Server
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.flink_rest import recorded
from tests.support.http_server import Answer

OP1 = "10.88.0.2:42743-d7955a"


def subtask(
    host: str, busy: float | None, received: float, sent: float = 0
) -> tuple[str, Counters]:
    return host, Counters(records_in=received, records_out=sent, busy_ms=busy)


def test_parts_are_the_growth_of_each_subtask() -> None:
    first = [subtask("a", 100, 10), subtask("b", 100, 10), subtask("a", 0, 0)]
    last = [subtask("a", 200, 30), subtask("b", 400, 60), subtask("a", 100, 30)]
    assert parts(first, last) == {"a": Part(2, 0.4, 0.5), "b": Part(1, 0.6, 0.5)}


def test_sources_have_tuples_sent() -> None:
    first = [subtask("a", 0, 0, 0), subtask("b", 0, 0, 0)]
    last = [subtask("a", 10, 0, 30), subtask("b", 30, 0, 10)]
    assert parts(first, last) == {"a": Part(1, 0.25, 0.75), "b": Part(1, 0.75, 0.25)}


@pytest.mark.parametrize(
    "last",
    [
        [subtask("a", None, 30), subtask("b", 50, 10)],
        [subtask("a", 0, 0), subtask("b", 0, 0)],
        [subtask("a", 0, 0), subtask("c", 0, 5)],
    ],
)
def test_subtasks_count_equally_without_growth(last: list[tuple[str, Counters]]) -> None:
    first = [subtask("a", 0, 0), subtask("b", 0, 0)]
    assert {part.busy for part in parts(first, last).values()} == {0.5}
    assert parts((), ()) == {}


def test_recorded_subtasks() -> None:
    value = recorded("vertex-details-backpressured-count")
    rows = [(task["taskmanager-id"], counters(task["metrics"])) for task in value["subtasks"]]
    empty = [(host, replace(each, busy_ms=0.0, records_in=0.0)) for host, each in rows]
    found = parts(empty, rows)
    assert sum(part.instances for part in found.values()) == len(rows)
    assert sum(part.busy for part in found.values()) == pytest.approx(1)
    total = sum(each.busy_ms or 0 for _, each in rows)
    for host, part in found.items():
        own = sum(each.busy_ms or 0 for name, each in rows if name == host)
        assert part.busy == pytest.approx(own / total)


def overview(*jobs: tuple[str, str]) -> Any:
    def answer(path: str, query: str) -> Answer:
        rows = [{"jid": job, "name": "words", "state": state} for job, state in jobs]
        return 200, json.dumps({"jobs": rows}).encode()

    return answer


def test_the_only_job_that_runs() -> None:
    with serving(overview(("one", "FINISHED"), ("two", "RUNNING"))) as url:
        assert Client(Server(url), 5).running_job() == "two"
    with serving(overview(("one", "CANCELED"))) as url, pytest.raises(UsageError, match="no job"):
        Client(Server(url), 5).running_job()
    several = serving(overview(("one", "RUNNING"), ("two", "RUNNING")))
    message = r"several jobs run: one \(words\), two \(words\); set --job ID"
    with several as url, pytest.raises(UsageError, match=message):
        Client(Server(url), 5).running_job()
    with serving(lambda path, query: (200, b"[]")) as url, pytest.raises(BackendError):
        Client(Server(url), 5).running_job()


def placement() -> Placement:
    graph = StreamGraph([Operator("OP1", 1e6, 1), Operator("OP3", 1e6, 1)], source_rate=1)
    return Placement(Problem(graph, Cluster([Device("x", 1), Device("y", 1)])), [0, 1])


@pytest.mark.long
def test_a_job_is_observed() -> None:
    job = SampleJob(speed=20)
    for each in job.task_managers["taskmanagers"]:
        if each["id"] == OP1:
            each["totalResource"]["extendedResources"] = {"dev_x": 1000.0}
    with serving(job) as url:
        observed = observe(placement(), Server(url), JOB_ID, seconds=3.2, timeout_s=5)
    use = observed.use
    assert (observed.fault, observed.interrupted) == ("", False)
    assert use.labelled == {"x": OP1}
    assert len(use.idle_hosts) == 2
    tasks = {task.name: task for task in use.tasks}
    one = tasks["OP1"]
    assert one.parts == {OP1: Part(1, 1.0, 1.0)}
    assert one.seconds_per_tuple.value == pytest.approx(1907 / 2267 / 1e3, rel=0.02)
    assert tasks["sink -> Sink: Writer"].operators == ("sink", "Sink: Writer")
    rate = {each.name: each.rate.value for each in use.profile.operators}["OP1"]
    assert rate is not None
    assert one.busy.value == pytest.approx(rate * 1907 / 2267 / 1e3, rel=0.05)


@pytest.mark.long
def test_a_server_that_fails_later_keeps_what_was_read() -> None:
    job, requests = SampleJob(speed=20), [0]

    def answer(path: str, query: str) -> Answer | None:
        requests[0] += 1
        return job(path, query) if requests[0] <= 40 else (404, b"")

    with serving(answer) as url:
        observed = observe(placement(), Server(url), JOB_ID, seconds=60, timeout_s=20)
    assert "HTTP 404" in observed.fault
    assert observed.use.labelled == {}
    assert {part for task in observed.use.tasks for part in task.parts.values()} == {
        Part(1, 1.0, 1.0)
    }
