"""Profiles of Storm topologies, from saved documents and from a server on loopback."""

import copy
import json
from typing import Any

import pytest

from streamplace.engines.profile_job import watched
from streamplace.engines.storm.documents import topology_from
from streamplace.engines.storm.profile import documents, fit
from streamplace.errors import BackendError, FormatError
from streamplace.formats.profiling.profile import Profile
from streamplace.formats.profiling.rest import Server
from streamplace.problem.logical import BY_KEY, Distribution, MeasuredDistribution
from tests.corpus.engine_documents.storm import METRICS, PAGES, TOPOLOGY, VISUALIZATION, WHOLE
from tests.support.flink_api import serving
from tests.support.http_server import Answer

BASE = "/api/v1/topology/words-1-1"
SERVED: dict[str, Any] = {
    BASE: TOPOLOGY,
    f"{BASE}/metrics": METRICS,
    f"{BASE}/visualization": VISUALIZATION,
}


def served(path: str, query: str, pages: dict[str, Any] = PAGES) -> Answer:
    name = path.removeprefix(f"{BASE}/component/")
    found = pages[name] if name in pages else SERVED.get(path, [])
    return 200, json.dumps(found).encode()


def instructions(found: Profile) -> dict[str, tuple[str, float | None]]:
    return {each.name: (each.instructions.how, each.instructions.value) for each in found.operators}


def test_only_bolts_have_execute_times() -> None:
    found = fit(WHOLE, "x", 1000.0)
    assert instructions(found) == {
        "lines": ("missing", None),
        "split": ("measured", pytest.approx(0.05e-3 * 1e9)),
        "count": ("missing", None),
    }
    graph = found.logical.graph
    assert graph.instructions[graph.index["split"]] == pytest.approx(50_000)
    assert {each.payload_bytes.how for each in found.streams} == {"missing"}
    assert "payload_bytes" in " ".join(graph.unknown)
    rates = {each.name: each.rate.value for each in found.operators}
    assert rates["split"] == pytest.approx(800 / found.seconds)
    json.dumps(found.to_dict(), allow_nan=False)


def test_time_per_tuple_is_the_mean_over_inputs() -> None:
    bolt = METRICS["bolts"][1]
    timed = [
        {"component_id": "split", "stream_id": "default", "value": "1.0"},
        {"component_id": "split", "stream_id": "control", "value": "102.0"},
    ]
    metrics = {**METRICS, "bolts": [METRICS["bolts"][0], {**bolt, "executed_ms_avg": timed}]}
    found = fit(metrics, "x", 1.0)
    assert instructions(found)["count"][1] == pytest.approx((4000 + 102 * 40) / 4040 * 1000)
    assert found.source_rate.how == "missing"


def test_a_time_that_is_rounded_to_0_is_a_bound() -> None:
    """It would cost nothing, although millions of tuples of 0.4 µs keep a core busy."""
    bolt = METRICS["bolts"][1]
    timed = [{**row, "value": "0.000"} for row in bolt["executed"]]
    metrics = {**METRICS, "bolts": [METRICS["bolts"][0], {**bolt, "executed_ms_avg": timed}]}
    found = fit(metrics, "x", 1000.0)
    assert instructions(found)["count"] == ("bound", 500.0)
    assert found.logical.graph.unknown["instructions"] == ["lines", "count"]
    assert "the uptime (/topology/ID)" in found.source_rate.why


def test_documents_from_a_server() -> None:
    with serving(served) as url:
        found, fault = documents(Server(url), "words-1-1", 5)
    assert fault == ""
    assert fit(found, url, 1.0).to_dict() == fit(WHOLE, url, 1.0).to_dict()


@pytest.mark.parametrize(
    ("value", "message"),
    [(WHOLE, "200 s"), (METRICS, "600 s"), (VISUALIZATION, "over an unknown time")],
)
def test_length_of_the_measurement(value: dict[str, Any], message: str) -> None:
    """The length is the shorter of window and uptime."""
    assert watched(fit(value, "x", 1.0)) == message


def test_window_of_the_ui() -> None:
    queries = []

    def answer(path: str, query: str) -> Answer:
        queries.append(query)
        return served(path, query)

    with serving(answer) as url:
        documents(Server(url), "words-1-1", 5, window_s=600)
        documents(Server(url), "words-1-1", 5)
    assert queries == ["window=600"] * 6 + [""] * 6


def test_documents_before_a_fault_are_kept() -> None:
    def answer(path: str, query: str) -> Answer:
        return (500, b"") if path.endswith("visualization") else served(path, query)

    with serving(answer) as url:
        found, fault = documents(Server(url), "words-1-1", 5)
    assert "HTTP 500" in fault
    assert set(found) == {"topology", "metrics"}
    assert fit(found, url, 1.0).logical.graph.names


def test_uneven_executors_keep_their_shares() -> None:
    """In the order of tasks; copies go to all executors, so that a stream of them stays even."""
    pages = copy.deepcopy(PAGES)
    for row, emitted in zip(pages["lines"]["executorStats"], (900, 100), strict=True):
        row["emitted"] = emitted
    for row, executed in zip(pages["count"]["executorStats"], (2510, 10, 10, 1510), strict=True):
        row["executed"] = executed
    with serving(lambda path, query: served(path, query, pages)) as url:
        value, fault = documents(Server(url), "words-1-1", 5)
    assert fault == ""
    job = fit(value, url, 1.0).logical
    assert set(job.measured_shares) == {"lines", "count"}
    assert job.measured_shares["lines"] == (0.9, 0.1)
    copies, keyed = job.distributions["split", "count"]
    assert copies is Distribution.BROADCAST
    assert isinstance(keyed, MeasuredDistribution)
    assert keyed.rule is BY_KEY
    assert keyed.shares == pytest.approx((2500 / 4000, 1500 / 4000, 0, 0), abs=1e-4)
    assert topology_from(value, "x").hosts["count"] == ["h"] * 4


@pytest.mark.parametrize("executors", [[], PAGES["count"]["executorStats"][:3]])
def test_executors_that_have_not_all_reported_say_nothing(executors: list[Any]) -> None:
    pages = {**PAGES, "count": {"executorStats": executors}}
    found = topology_from({**WHOLE, "components": pages}, "x")
    assert set(found.tuples) == set(found.hosts) == {"lines", "split"}


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ([], "x: components['count']: must be an object (got a list)"),
        ({"executorStats": [{"executed": -1}]}, "x: components['count']: executorStats[0].exec"),
    ],
)
def test_bad_pages_of_components(page: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        topology_from({**WHOLE, "components": {"count": page}}, "x")
    assert str(caught.value).startswith(message)


def test_no_documents() -> None:
    with serving(lambda path, query: None) as url, pytest.raises(BackendError, match="no answer"):
        documents(Server(url), "words-1-1", 0.3)
    with pytest.raises(FormatError, match="not a Storm document"):
        fit({}, "x", 1.0)


def test_counts_that_overflow() -> None:
    document = json.loads(json.dumps(METRICS))
    for bolt in document["bolts"]:
        for row in bolt["executed"]:
            row["value"] = 1.7e308
    found = fit(document, "x", 2500.0)
    rates = {operator.name: operator.rate.value for operator in found.operators}
    assert rates["count"] == float("inf")
