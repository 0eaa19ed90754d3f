"""Answers of Ray's dashboard, from a server on loopback."""

import json
from copy import deepcopy
from typing import Any

import pytest

from streamplace.engines.ray.dashboard import Actor, Dashboard
from streamplace.errors import BackendError
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.rest import Server
from tests.corpus.engine_documents.ray import ACTORS, DETAIL
from tests.support.flink_api import serving
from tests.support.http_server import Answer

COUNT = Actor("4bb8efdb707318e31bc53fda01000000", "count", "pipe", "662fa83fe52a589f")

CPU_TIMES = ["data", "detail", "processStats", "cpuTimes"]
ALL = "detail=1&limit=10000&filter_keys=state&filter_predicates=%3D&filter_values="


def asked(actors: Any = ACTORS, detail: Any = DETAIL) -> tuple[list[Actor], Counters]:
    def answer(path: str, query: str) -> Answer:
        if path == "/api/v0/actors":
            return (200, json.dumps(actors).encode()) if query.startswith(ALL) else (400, b"")
        return 200, json.dumps(detail).encode()

    with serving(answer) as url:
        dashboard = Dashboard(Server(url), 5.0)
        return dashboard.actors(), dashboard.counters(COUNT)


def changed(document: dict[str, Any], path: list[Any], value: Any) -> dict[str, Any]:
    made = deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def test_named_actors_that_run() -> None:
    actors, _ = asked()
    assert actors[0] == COUNT
    assert [each.name for each in actors] == ["count", "lines"]


@pytest.mark.parametrize("state", ["RESTARTING", "PENDING_CREATION", "DEPENDENCIES_UNREADY"])
def test_actors_that_start_are_not_left_out(state: str) -> None:
    """Its operator would otherwise seem to have an instance less."""
    actors, _ = asked(changed(ACTORS, ["data", "result", "result", 0, "state"], state))
    assert [each.name for each in actors] == ["lines", "count"]
    with pytest.raises(BackendError, match=f"actor count is {state}"):
        asked(detail=changed(DETAIL, ["data", "detail", "state"], state))


def test_calls_and_cpu_time() -> None:
    _, counters = asked()
    assert counters.records_in == 2042
    assert counters.cpu_ms == pytest.approx(17_930.0)


@pytest.mark.parametrize("missing", ["numExecutedTasks", "processStats"])
def test_what_the_dashboard_has_not_heard_of(missing: str) -> None:
    _, counters = asked(detail=changed(DETAIL, ["data", "detail", missing], None))
    assert (counters.records_in is None) == (missing == "numExecutedTasks")
    assert (counters.cpu_ms is None) == (missing == "processStats")


@pytest.mark.parametrize(
    ("documents", "fault"),
    [
        ({"actors": {"jobs": []}}, "not what Ray's dashboard answers"),
        ({"actors": []}, "not what Ray's dashboard answers"),
        ({"actors": {"result": False, "msg": "no GCS"}}, "answers: no GCS"),
        ({"actors": changed(ACTORS, ["data"], None)}, "must be an object"),
        ({"actors": changed(ACTORS, ["data", "result", "total"], 20_000)}, "lists 3 of 20,000"),
        ({"actors": changed(ACTORS, ["data", "result", "result", 0, "state"], 3)}, "state"),
        ({"detail": changed(DETAIL, ["data", "detail", "state"], "DEAD")}, "count is DEAD"),
        ({"detail": changed(DETAIL, ["data", "detail", "numExecutedTasks"], -1)}, "numExec"),
        ({"detail": changed(DETAIL, ["data", "detail"], None)}, "must be an object"),
        ({"detail": changed(DETAIL, [*CPU_TIMES, "user"], 1e307)}, "cpuTimes.user"),
    ],
)
def test_faults_of_the_dashboard(documents: dict[str, Any], fault: str) -> None:
    with pytest.raises(BackendError, match=fault):
        asked(**documents)
