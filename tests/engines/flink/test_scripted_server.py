"""The documents of the scripted server have the shape of those that Flink served."""

import json
import urllib.request
from typing import Any

import pytest

from tests.support.flink_rest import recorded
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.runs import Run
from tests.support.flink_server.server import JAR, ScriptedFlink

VERTEX = f"/jobs/{JOB}/vertices/b71731"
SUMMARIES = {"processed_data", "persisted_data", "aggregated"}  # which the server leaves empty
FREE = {"extendedResources", "user-config", *SUMMARIES}  # objects with keys of their own
PAIRS = {
    "job-details-running": f"/jobs/{JOB}",
    "job-plan": f"/jobs/{JOB}/plan",
    "job-config": f"/jobs/{JOB}/config",
    "vertex-details": VERTEX,
    "checkpoints": f"/jobs/{JOB}/checkpoints",
    "checkpoints-config": f"/jobs/{JOB}/checkpoints/config",
    "taskmanagers": "/taskmanagers",
    "taskmanager-with-external-resource": "/taskmanagers/tm-b",
    "jars": "/jars",
}


def shape(value: Any) -> Any:
    """Return the keys and types of a JSON value; a list has the shape of its last row."""
    if isinstance(value, dict):
        return {key: "free" if key in FREE else shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(value[-1])] if value else []
    return "number" if type(value) in (int, float) else type(value).__name__


def answer(url: str, path: str) -> Any:
    with urllib.request.urlopen(url + path) as reply:
        return json.loads(reply.read())


@pytest.mark.parametrize("name", PAIRS)
def test_shapes(name: str) -> None:
    flink = ScriptedFlink(clock=(clock := ManualClock()))
    with flink.serving() as url:
        for _ in range(3):
            answer(url, f"/jobs/{JOB}")
            clock.sleep(20)
        found, expected = shape(answer(url, PAIRS[name])), shape(recorded(name))
    if name.startswith("taskmanager-"):
        found["metrics"] = expected["metrics"]
    assert found == expected


def test_a_job_from_a_savepoint() -> None:
    flink = ScriptedFlink()
    flink.jobs[JOB] = Run(hosts=flink.jobs[JOB].hosts, restored="file:/savepoint")
    with flink.serving() as url:
        found = answer(url, f"/jobs/{JOB}/checkpoints")["latest"]["restored"]
    assert shape(found) == shape(recorded("checkpoints-after-restore")["latest"]["restored"])


def test_savepoints_and_starts() -> None:
    flink = ScriptedFlink(polls=0, savepoint_fails=1)
    flink._stop(JOB, {"triggerId": "x"})
    failed, done = (flink._savepoint(JOB, "x") for _ in range(2))
    assert shape(failed) == shape(recorded("savepoint-status-failed"))
    assert shape(done) == shape(recorded("stop-with-savepoint-status-completed"))
    _, started = flink._start(JAR, {"jobId": "new", "savepointPath": "file:/x"})
    assert shape(started) == shape(recorded("jar-run"))


def test_requirements() -> None:
    flink = ScriptedFlink(scheduler="Adaptive")
    with flink.serving() as url:
        found = answer(url, f"/jobs/{JOB}/resource-requirements")
    one, two = (
        next(iter(each.values()))
        for each in (found, recorded("adaptive-resource-requirements-get"))
    )
    assert shape(one) == shape(two)


def test_metrics_are_those_of_the_request_before() -> None:
    flink = ScriptedFlink(clock=(clock := ManualClock()))
    with flink.serving() as url:
        counted = []
        for _ in range(3):
            vertex = answer(url, f"/jobs/{JOB}")["vertices"][1]
            counted.append(vertex["metrics"]["read-records"])
            clock.sleep(10)
    assert counted == [0, 0, 1000]


def test_a_bottleneck_holds_its_source_back() -> None:
    flink = ScriptedFlink(clock=(clock := ManualClock()))
    flink.load.rate_s, flink.load.work_s = 100.0, {"count": 0.02}
    with flink.serving() as url:
        for _ in range(2):
            answer(url, f"/jobs/{JOB}")
            clock.sleep(10)
        source, count, _ = answer(url, f"/jobs/{JOB}")["vertices"]
    assert count["metrics"]["accumulated-busy-time"] == 10_000
    assert count["metrics"]["read-records"] == 500
    assert source["metrics"]["accumulated-backpressured-time"] == 10_000
    assert flink.jobs[JOB].waiting == pytest.approx(1000)
