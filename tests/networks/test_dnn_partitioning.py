"""The readers of the workloads of dnn-partitioning."""

import json
from typing import Any

import numpy as np
import pytest

from streamplace.problem.cluster import Device, Network
from tests.corpus.engine_documents.neural_networks import DNN, DNN_TEXT
from tests.support.documents import read_document, refused_document

KINDS = ("dnn-partitioning", "dnn-latency")


def changed(**fields: Any) -> str:
    """Return the document with other fields."""
    return json.dumps({**DNN, **fields})


@pytest.mark.parametrize("kind", KINDS)
def test_operators(kind: str) -> None:
    graph = read_document(kind, DNN_TEXT).graph
    assert graph.names == ("a#7", "a#8", "b")  # two nodes have the same name
    assert {graph.names[v]: dict(seconds) for v, seconds in graph.seconds_on.items()} == {
        "a#7": {"accelerator": 0.001, "cpu": 0.01},
        "a#8": {"accelerator": None, "cpu": 0.004},
        "b": {"accelerator": 0.002, "cpu": 0.02},
    }
    assert np.isnan(graph.instructions).all()
    assert graph.memory_bytes.tolist() == [600, 0, 300]
    assert graph.constraints.colocate == (("a#7", "b"),)
    assert graph.firing == "all"


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_cost_of_an_edge_counts_and_only_once(kind: str) -> None:
    graph = read_document(kind, DNN_TEXT).graph
    assert [
        (s.source, s.target, p)
        for s, p in zip(graph.streams, graph.stream_payload_bytes, strict=True)
    ] == [
        ("a#7", "a#8", 5e5),
        ("a#7", "b", 5e5),
        ("a#8", "b", 2.5e5),
    ]
    assert graph.payload_bytes.tolist() == [5e5, 2.5e5, 0]


def test_the_cluster_for_throughput() -> None:
    found = read_document("dnn-partitioning", DNN_TEXT)
    assert found.cluster is not None
    fast: dict[str, Any] = {
        "memory_bytes": 1000.0,
        "kind": "accelerator",
        "overhead_s_per_byte": 1e-9,
    }
    assert found.cluster.devices == (
        Device("accelerator0", 1.0, **fast),
        Device("accelerator1", 1.0, **fast),
        Device("cpu0", 1.0, kind="cpu", overhead_s_per_byte=0.0),
    )
    assert found.cluster.network == Network("free", None, 0.0)
    assert found.graph.multicast == "all"
    assert not found.notes


def test_the_cluster_for_latency() -> None:
    found = read_document("dnn-latency", changed(maxCPUs=8))
    assert found.cluster is not None
    assert [device.kind for device in found.cluster.devices] == ["accelerator"] * 2 + ["cpu"]
    assert found.cluster.overhead_s_per_byte.tolist() == [0.0] * 3
    assert found.cluster.network == Network("free", 8000.0, 0.0)
    assert found.graph.multicast == "none"
    assert found.notes == ["the cluster has 1 CPU, although maxCPUs is 8"]


def test_a_transfer_takes_its_cost_in_both() -> None:
    """0.5 ms of an edge are 0.5 ms of an accelerator's time, or of a link's."""
    throughput, latency = (read_document(kind, DNN_TEXT) for kind in KINDS)
    assert throughput.cluster is not None
    assert latency.cluster is not None
    payload = throughput.graph.stream_payload_bytes[0]
    assert payload * throughput.cluster.overhead_s_per_byte[0] == pytest.approx(0.5e-3, rel=1e-15)
    mbps = latency.cluster.network.bandwidth_mbps
    assert mbps is not None
    assert 8 * payload / (mbps * 1e6) == 0.5e-3


def test_nodes_without_names_are_named_after_their_ids() -> None:
    nodes = [{key: value for key, value in node.items() if key != "name"} for node in DNN["nodes"]]
    assert read_document("dnn-latency", changed(nodes=nodes)).graph.names == ("#7", "#8", "#9")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"nodes": []}, "nodes"),
        ({"maxFPGAs": 2049}, "maxFPGAs"),
        ({"maxFPGAs": 0, "maxCPUs": 0}, "devices: a cluster needs at least one device"),
        ({"nodes": [DNN["nodes"][0]] * 2}, "nodes[1].id: 7 appears twice"),
        ({"nodes": [{**DNN["nodes"][0], "fpgaLatency": -1}]}, "nodes[0].fpgaLatency"),
        ({"edges": [{"sourceId": 7, "destId": 5, "cost": 1}]}, "edges[0].destId: unknown node 5"),
        ({"edges": [{"sourceId": 7, "destId": 8}]}, "edges[0]: missing field 'cost'"),
        (
            {"edges": [{"sourceId": 7, "destId": 8, "cost": cost} for cost in (1, 2)]},
            "edges[1].cost: 2 differs from 1, which the same edge has before",
        ),
        ({"edges": [{"sourceId": 7, "destId": 7, "cost": 1}]}, "a#7"),
    ],
)
def test_errors_name_the_place(fields: dict[str, Any], message: str) -> None:
    for kind in KINDS:
        assert message in refused_document(kind, changed(**fields))
