"""Storm: Flux files, and what the UI serves."""

import copy
import json
from typing import Any

import pytest

from benchmarks.hardening.engine_documents.storm import FLUX, METRICS, TOPOLOGY, VISUALIZATION
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import Distribution
from tests.engines.reading import edges, read, refused

WORDS = [("count", "log"), ("lines", "split"), ("split", "count"), ("split", "count")]
LIVE = [("lines", "split"), ("split", "count"), ("split", "count")]


def test_flux() -> None:
    job = read("storm-flux", FLUX)
    assert job.graph.name == "words"
    assert job.graph.names == ("lines", "split", "count", "log")
    assert edges(job) == WORDS
    assert job.parallelism == {"lines": 2, "split": 3, "count": 4}
    assert job.distributions == {
        ("split", "count"): [Distribution.ALL, Distribution.BROADCAST],
        ("count", "log"): [Distribution.FIRST],
    }
    assert job.graph.lacking == [
        "instructions of 'lines', 'split', 'count', 'log'",
        "payload_bytes of 'lines', 'split', 'count'",
        "selectivity of 'lines->split', 'split->count', 'count->log'",
    ]


def test_flux_expands_into_executors() -> None:
    graph = to_instances(read("storm-flux", FLUX))
    assert len(graph.names) == 2 + 3 + 4 + 1
    assert len(graph.streams) == 2 * 3 + 2 * 3 * 4 + 4


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: ", "name: [", "not YAML: "),
        ("name: ", "name: !!python/object/apply:os.system ", "line 2 column 7: tags are not"),
        ("config:", "config: &a\n  b: *a", "line 3 column 9: what an alias (*) stands for"),
        ("config:", "name: x\nconfig:", "line 3 column 1: key 'name' stands twice"),
        ("parallelism: 2", "parallelism: 0", "spouts[0].parallelism: should be greater"),
        ("parallelism: 2", "parallelism: ${n}", "spouts[0].parallelism: must be an integer"),
        ("parallelism: 2", "parallelism: 1e9", "spouts[0].parallelism: must be an integer"),
        ("parallelism: 2", "parallelism: 999999999", "spouts[0].parallelism: should be less"),
        ("parallelism: 2", "parallelism: !!int x", "spouts[0].parallelism: must be an integer"),
        ("SHUFFLE", "GUESS", "streams[0].grouping.type: should be 'ALL'"),
        ('to: "split"', 'to: "nobody"', "streams[0]: no spout or bolt has the id 'nobody'"),
        ('to: "split"', 'to: "lines"', "streams[0].to: 'lines' is a spout"),
        ('to: "log"', 'to: "split"', "streams: a cycle, split -> count -> split"),
        ('- id: "log"', '- id: "count"\n  - id: "log"', "operators[3].name: 'count' is operators"),
        ("config:", "topologySource:", "topologySource: a class builds this topology"),
    ],
)
def test_flux_files_that_are_none(old: str, new: str, said: str) -> None:
    assert refused("storm-flux", FLUX.replace(old, new)).startswith(said)


def test_yaml_that_is_no_flux_file() -> None:
    assert refused("storm-flux", "") == "is empty"
    assert refused("storm-flux", "- a") == "must be an object, not a list"
    assert refused("storm-flux", "? [a]\n: b").startswith("line 1 column 3: a key must be text")
    assert refused("storm-flux", "name: x").startswith("operators: the graph has none")


def test_more_brackets_than_a_file_has() -> None:
    """Three megabytes of them took a minute until they were refused."""
    for opening in ("", "a: "):
        text = opening + "[" + "[]," * 2**20
        said = "more than 10,000 lists and objects in brackets at line 1 column "
        assert said in refused("storm-flux", text)


def test_a_visualization_tells_streams_and_executors() -> None:
    job = read("storm-ui", json.dumps(VISUALIZATION))
    assert job.graph.names == ("lines", "split", "count")
    assert edges(job) == LIVE
    assert job.parallelism == {"lines": 2, "split": 3}
    assert job.distributions == {
        ("split", "count"): [Distribution.ALL, Distribution.BROADCAST],
    }
    assert len(job.graph.unknown) == 3


def test_metrics_tell_streams_and_selectivities() -> None:
    graph = read("storm-ui", json.dumps(METRICS)).graph
    assert [(s.source, s.target, s.selectivity) for s in graph.streams] == [
        ("lines", "split", 1.0),
        ("split", "count", 10 / 800),
        ("split", "count", 4000 / 800),
    ]
    assert graph.source_rate is None, "for how long it ran is not told"
    assert list(graph.unknown) == ["instructions", "payload_bytes"]


def test_documents_together() -> None:
    """Streams keep their own groupings though selectivities order them."""
    documents = {"visualization": VISUALIZATION, "metrics": METRICS, "topology": TOPOLOGY}
    job = read("storm-ui", json.dumps(documents))
    assert job.graph.name == "words"
    assert job.parallelism == {"lines": 2, "split": 3, "count": 4}
    assert job.graph.source_rate == 1000 / 200
    assert [s.selectivity for s in job.graph.streams] == [1.0, 10 / 800, 4000 / 800]
    assert job.distributions["split", "count"] == [Distribution.BROADCAST, Distribution.ALL]


def test_nothing_is_divided_by_nothing() -> None:
    metrics = copy.deepcopy(METRICS)
    metrics["bolts"][0]["executed"][0]["value"] = 0
    assert read("storm-ui", json.dumps(metrics)).graph.lacking[-1] == (
        "selectivity of 'split->count'"
    )


def changed(document: dict[str, Any], *path: Any, to: Any) -> str:
    """Return a document with one value replaced."""
    result = copy.deepcopy(document)
    here: Any = result
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = to
    return json.dumps(result)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is none of Storm's documents"),
        ("[1]", "is none of Storm's documents"),
        (json.dumps(TOPOLOGY), "tells no streams; those are in /metrics"),
        (json.dumps({"metrics": TOPOLOGY}), "metrics: is no such document"),
        (
            changed(VISUALIZATION, "split", ":inputs", 0, ":component", to="who"),
            "no component is called 'who'",
        ),
        (changed(VISUALIZATION, "split", to=5), "'split': must be an object, not a number"),
        (changed(METRICS, "window", to="10 min"), "window: must be seconds"),
        (
            changed(METRICS, "bolts", 0, "emitted", 0, "value", to="NaN"),
            "bolts[0].emitted[0].value: should be greater than or equal to 0",
        ),
        (
            changed(METRICS, "bolts", 0, "emitted", 0, "value", to="many"),
            "bolts[0].emitted[0].value: could not convert string to float: 'many'",
        ),
        (
            changed(METRICS, "bolts", 0, "executed", 0, "component_id", to="count"),
            "streams: a cycle",
        ),
    ],
)
def test_documents_of_the_ui_that_are_none(text: str, said: str) -> None:
    assert refused("storm-ui", text).startswith(said)


def test_a_bolt_that_saw_nothing_is_no_source_of_tuples() -> None:
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
    job = read("storm-ui", json.dumps(metrics))
    shares = dict(zip(job.graph.names, job.graph.source_share.tolist(), strict=True))
    assert shares == {"lines": 1.0, "count": 0.0, "alert": 0.0}
    assert "'alert'" in " ".join(job.notes)
