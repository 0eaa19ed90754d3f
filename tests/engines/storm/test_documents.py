"""The JSON documents that Storm's UI serves."""

import copy
import json
from typing import Any

import pytest

from streamplace.problem.logical import BY_KEY, Distribution
from tests.corpus.engine_documents.storm import METRICS, TOPOLOGY, VISUALIZATION
from tests.support.documents import edges, read_document, refused_document

LIVE = [("lines", "split"), ("split", "count"), ("split", "count")]


def test_visualization_contains_streams_and_executors() -> None:
    job = read_document("storm-ui", json.dumps(VISUALIZATION))
    assert job.graph.names == ("lines", "split", "count")
    assert edges(job) == LIVE
    assert job.parallelism == {"lines": 2, "split": 3}
    assert job.distributions == {
        ("split", "count"): [BY_KEY, Distribution.BROADCAST],
    }
    assert len(job.graph.unknown) == 3


def test_metrics_contain_streams_and_selectivities() -> None:
    graph = read_document("storm-ui", json.dumps(METRICS)).graph
    assert [(s.source, s.target, s.selectivity) for s in graph.streams] == [
        ("lines", "split", 1.0),
        ("split", "count", 10 / 800),
        ("split", "count", 4000 / 800),
    ]
    assert graph.source_rate is None, "the uptime is unknown"
    assert list(graph.unknown) == ["instructions", "payload_bytes"]


def test_several_documents() -> None:
    """Streams keep their groupings although selectivities reorder them."""
    documents = {"visualization": VISUALIZATION, "metrics": METRICS, "topology": TOPOLOGY}
    job = read_document("storm-ui", json.dumps(documents))
    assert job.graph.name == "words"
    assert job.parallelism == {"lines": 2, "split": 3, "count": 4}
    assert job.graph.source_rate == 1000 / 200
    assert [s.selectivity for s in job.graph.streams] == [1.0, 10 / 800, 4000 / 800]
    assert job.distributions["split", "count"] == [Distribution.BROADCAST, BY_KEY]


def test_no_division_by_0() -> None:
    metrics = copy.deepcopy(METRICS)
    metrics["bolts"][0]["executed"][0]["value"] = 0
    assert read_document("storm-ui", json.dumps(metrics)).graph.lacking[-1] == (
        "selectivity of 'split->count'"
    )


def changed(document: dict[str, Any], *path: Any, to: Any) -> str:
    """Return a document with one value replaced."""
    result = copy.deepcopy(document)
    parent: Any = result
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = to
    return json.dumps(result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a Storm document"),
        ("[1]", "not a Storm document"),
        (json.dumps(TOPOLOGY), "contains no streams; add /metrics or /visualization"),
        (json.dumps({"metrics": TOPOLOGY}), "metrics: not a Storm document of that kind"),
        (
            changed(VISUALIZATION, "split", ":inputs", 0, ":component", to="who"),
            "unknown component 'who'",
        ),
        (changed(VISUALIZATION, "split", to=5), "'split': must be an object (got a number)"),
        (changed(METRICS, "window", to="10 min"), "window: must be seconds"),
        (
            changed(METRICS, "bolts", 0, "emitted", 0, "value", to="NaN"),
            "bolts[0].emitted[0].value: must be at least 0",
        ),
        (
            changed(METRICS, "bolts", 0, "emitted", 0, "value", to="many"),
            "bolts[0].emitted[0].value: must be a number (got 'many')",
        ),
        (
            changed(METRICS, "bolts", 0, "executed", 0, "component_id", to="count"),
            "streams: the graph has a cycle",
        ),
    ],
)
def test_invalid_documents(text: str, message: str) -> None:
    assert refused_document("storm-ui", text).startswith(message)


def test_idle_bolt_is_not_a_source_of_tuples() -> None:
    metrics = {
        "window": "600",
        "spouts": [{"id": "lines", "emitted": [{"stream_id": "default", "value": 1000}]}],
        "bolts": [
            {
                "id": "count",
                "executed": [{"component_id": "lines", "stream_id": "default", "value": 1000}],
            },
            {"id": "alert", "emitted": [], "executed": []},
        ],
    }
    job = read_document("storm-ui", json.dumps(metrics))
    shares = dict(zip(job.graph.names, job.graph.source_share.tolist(), strict=True))
    assert shares == {"lines": 1.0, "count": 0.0, "alert": 0.0}
    assert "'alert'" in " ".join(job.notes)


def test_what_executors_request() -> None:
    """The topology's page has MiB per executor (UIHelpers), also where it is only Storm's default.

    Storm's default of 128 MiB is no fact of the job, so it stays unknown.
    """
    topology = copy.deepcopy(TOPOLOGY)
    requests = [(128.0, 0.0, ""), (1024, 512, "fpga.count=1.0 gpu.count=2.0"), (256.0, 0.0, None)]
    for part, (heap, other, generic) in zip(
        [*topology["spouts"], *topology["bolts"]], requests, strict=True
    ):
        part |= {
            "requestedMemOnHeap": heap,
            "requestedMemOffHeap": other,
            "requestedGenericResourcesComp": generic,
        }
    topology["configuration"] = {"topology.spread.components": ["count"], "topology.tasks": None}
    documents = {"visualization": VISUALIZATION, "topology": topology}
    job = read_document("storm-ui", json.dumps(documents))
    assert job.graph.memory_bytes.tolist() == [0, 1536 * 2**20, 256 * 2**20]
    assert job.graph.resources == {1: {"fpga.count": 1.0, "gpu.count": 2.0}}
    assert "topology.spread.components are not read" in job.notes[0]


@pytest.mark.parametrize(
    ("tasks", "configuration", "most"),
    [
        (9, {}, 9),
        (4, {}, None),  # Storm's default, one task per executor
        (4, {"topology.tasks": 4}, 4),
        (4, {"topology.max.task.parallelism": 20}, 20),
        (9, {"topology.tasks": None, "topology.max.task.parallelism": None}, 9),
        (0, {"topology.tasks": 6}, 6),  # not in the document
    ],
)
def test_tasks_limit_executors(tasks: int, configuration: dict[str, Any], most: int | None) -> None:
    """A rebalance cannot make more executors of a component than it has tasks.

    Storm's page on parallelism: the number of executors is at most that of tasks, which stays the
    same as long as the topology runs.
    """
    topology = copy.deepcopy(TOPOLOGY)
    topology["configuration"] = configuration
    (count,) = [bolt for bolt in topology["bolts"] if bolt["boltId"] == "count"]
    assert count["executors"] == 4
    count["tasks"] = tasks
    documents = {"visualization": VISUALIZATION, "topology": topology}
    found = read_document("storm-ui", json.dumps(documents)).max_parallelism
    assert found.get("count") == most


def test_a_stream_without_a_counter_carried_no_tuple() -> None:
    """Storm makes the counter of a stream at its first tuple, so the bolt behind needs no costs."""
    rejected = {":type": "bolt", ":inputs": [{":component": "split", ":stream": "rejected"}]}
    documents = {"visualization": {**VISUALIZATION, "audit": rejected}, "metrics": METRICS}
    graph = read_document("storm-ui", json.dumps(documents)).graph
    (branch,) = [s for s in graph.streams if s.target == "audit"]
    assert branch.selectivity == 0.0
    assert graph.unknown_without_tuples == ["audit"]
    assert "audit" not in " ".join(graph.lacking)
    uncounted = copy.deepcopy(METRICS)
    del uncounted["bolts"][0]["emitted"]
    graph = read_document("storm-ui", json.dumps({**documents, "metrics": uncounted})).graph
    assert "split->audit" in graph.unknown["selectivity"]
