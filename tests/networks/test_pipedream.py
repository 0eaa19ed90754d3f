"""The reader of PipeDream's profiles."""

import pytest

from streamplace.problem.cluster import Device, Network
from tests.corpus.engine_documents.neural_networks import PIPEDREAM
from tests.support.documents import edges, read_document, refused_document


def test_the_forward_pass() -> None:
    found = read_document("pipedream", PIPEDREAM)
    graph = found.graph
    assert graph.names == ("node1", "node2", "node3")
    assert [dict(graph.seconds_on[v]) for v in range(3)] == [
        {"gpu": 0.0},
        {"gpu": 0.0015},
        {"gpu": 0.00025},
    ]
    assert graph.payload_bytes.tolist() == [0, 4096, 80]  # [64.0; 8.0; 8.0] are several tensors
    assert graph.memory_bytes.tolist() == [0, 4608, 2128]
    assert graph.type == {0: "Input0", 1: "Conv2d", 2: "LSTM"}
    assert graph.firing == "all"
    assert edges(found) == [("node1", "node2"), ("node1", "node3"), ("node2", "node3")]
    assert "backward_compute_time is left out" in found.notes[0]
    assert found.notes[1].startswith("stage_id is left out")
    without = read_document("pipedream", PIPEDREAM.replace(" -- stage_id=0", ""))
    assert len(without.notes) == 1


def test_the_cluster() -> None:
    """12 GB/s and 10 µs between any two of four equal GPUs."""
    found = read_document("pipedream", PIPEDREAM).cluster
    assert found is not None
    assert found.devices == tuple(Device(f"d{d}", 1.0, kind="gpu") for d in range(4))
    assert found.network == Network("free", 96_000.0, 1e-5)


def test_descriptions_may_contain_the_separator() -> None:
    text = PIPEDREAM.replace("Conv2d(3, 64", "Conv2d(3 -- 64").replace("bias=False", "a -- b")
    graph = read_document("pipedream", text).graph
    assert graph.type[1] == "Conv2d"
    assert graph.seconds_on[1]["gpu"] == 0.0015


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("node2 -- Conv2d", "node1 -- Conv2d", "line 2: node 'node1' appears twice"),
        ("\tnode1 -- node2", "\tnode1 -- node9", "line 4: unknown node 'node9'"),
        ("\tnode1 -- node2", "\tnode1 node2", "line 4: must be NODE -- NODE (got 'node1 node2')"),
        ("=1.500", "=fast", "line 2: forward_compute_time must be a number (got 'fast')"),
        ("=1.500", "=nan", "line 2: forward_compute_time must be a number (got 'nan')"),
        ("=1.500", "=-1.500", "seconds_on['gpu'] must be 0 to"),
        ("[64.0; 8.0;", "[64.0; ;", "line 3: activation_size is missing"),
        (", parameter_size=512.000", "", "line 2: parameter_size is missing"),
        (", parameter_size=512.000", ", 512", "line 2: must be NAME=NUMBER (got '512')"),
        ("node2 -- Conv2d", "Conv2d", "line 4: unknown node 'node2'"),
        (" -- forward_compute_time=0.000", "", "line 1: must be NODE -- DESCRIPTION -- forward"),
        (PIPEDREAM, "\ta -- b", "contains no nodes"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str) -> None:
    assert message in refused_document("pipedream", PIPEDREAM.replace(old, new, 1))
