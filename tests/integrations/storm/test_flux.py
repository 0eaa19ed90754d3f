"""Storm's Flux files."""

import pytest

from benchmarks.hardening.corpus.engine_documents.storm import FLUX
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import BY_KEY, Distribution
from tests.support.documents import edges, read_document, refused_document

WORDS = [("count", "log"), ("lines", "split"), ("split", "count"), ("split", "count")]


def test_a_flux_file_is_read() -> None:
    job = read_document("storm-flux", FLUX)
    assert job.graph.name == "words"
    assert job.graph.names == ("lines", "split", "count", "log")
    assert edges(job) == WORDS
    assert job.parallelism == {"lines": 2, "split": 3, "count": 4}
    assert job.distributions == {
        ("split", "count"): [BY_KEY, Distribution.BROADCAST],
        ("count", "log"): [Distribution.FIRST],
    }
    assert job.graph.lacking == [
        "instructions of 'lines', 'split', 'count', 'log'",
        "payload_bytes of 'lines', 'split', 'count'",
        "selectivity of 'lines->split', 'split->count', 'count->log'",
    ]


def test_flux_expands_into_executors() -> None:
    graph = to_instances(read_document("storm-flux", FLUX))
    assert len(graph.names) == 2 + 3 + 4 + 1
    assert len(graph.streams) == 2 * 3 + 2 * 3 * 4 + 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: ", "name: [", "not YAML: "),
        ("name: ", "name: !!python/object/apply:os.system ", "line 2 column 7: tags are not"),
        ("config:", "config: &a\n  b: *a", "line 3 column 9: aliases (*) are not allowed"),
        ("config:", "name: x\nconfig:", "line 3 column 1: key 'name' appears twice"),
        ("parallelism: 2", "parallelism: 0", "spouts[0].parallelism: must be at least 1 (got 0)"),
        ("parallelism: 2", "parallelism: ${n}", "spouts[0].parallelism: must be a whole number"),
        ("parallelism: 2", "parallelism: 1e9", "spouts[0].parallelism: must be a whole number"),
        (
            "parallelism: 2",
            "parallelism: 999999999",
            "spouts[0].parallelism: must be at most 100,000 (got",
        ),
        ("parallelism: 2", "parallelism: !!int x", "spouts[0].parallelism: must be a whole number"),
        ("SHUFFLE", "GUESS", "streams[0].grouping.type: must be 'ALL'"),
        ('to: "split"', 'to: "nobody"', "streams[0]: unknown spout or bolt 'nobody'"),
        ('to: "split"', 'to: "lines"', "streams[0].to: 'lines' is a spout, not a bolt"),
        ('to: "log"', 'to: "split"', "streams: the graph has a cycle: split -> count -> split"),
        (
            '- id: "log"',
            '- id: "count"\n  - id: "log"',
            "operators[3].name: duplicate name 'count', see operators[2]",
        ),
        ("config:", "topologySource:", "topologySource: not supported, since a class builds"),
    ],
)
def test_invalid_flux_files(old: str, new: str, message: str) -> None:
    assert refused_document("storm-flux", FLUX.replace(old, new)).startswith(message)


def test_yaml_that_is_not_a_flux_file() -> None:
    assert refused_document("storm-flux", "") == "is empty"
    assert refused_document("storm-flux", "- a") == "must be an object (got a list)"
    assert refused_document("storm-flux", "? [a]\n: b").startswith(
        "line 1 column 3: keys must be text"
    )
    without = "operators: a graph needs at least one operator"
    assert refused_document("storm-flux", "name: x").startswith(without)


def test_too_many_brackets() -> None:
    """Without a limit, three megabytes of brackets take a minute."""
    for opening in ("", "a: "):
        text = opening + "[" + "[]," * 2**20
        message = "more than 10,000 lists and objects in brackets at line 1 column "
        assert message in refused_document("storm-flux", text)
