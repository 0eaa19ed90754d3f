"""Numbers with units in files."""

import json
from pathlib import Path

import pytest

from streamplace import read_cluster, read_graph
from streamplace.errors import FormatError

GRAPH = {
    "operators": [
        {"name": "a", "instructions": "50k", "payload_bytes": "2kB", "memory_bytes": "1GiB"},
        {"name": "b", "instructions": 1000.0, "seconds_on": {"gpu": "3ms"}},
    ],
    "streams": [{"source": "a", "target": "b"}],
    "source_rate": "10k",
}
CLUSTER = {
    "devices": [{"name": "x", "mips": "2.5GIPS", "memory_bytes": "8GB"}],
    "network": {"bandwidth_mbps": "1Gbit/s", "latency_s": "200us"},
}


def test_units_of_graphs_and_clusters_are_read(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "cluster.json").write_text(json.dumps(CLUSTER))
    graph = read_graph(tmp_path / "graph.json")
    a, b = graph.operators
    assert (a.instructions, a.payload_bytes, a.memory_bytes) == (50_000.0, 2000.0, 2.0**30)
    assert (b.seconds_on, graph.source_rate) == ({"gpu": 0.003}, 10_000.0)
    cluster = read_cluster(tmp_path / "cluster.json")
    assert (cluster.devices[0].mips, cluster.devices[0].memory_bytes) == (2500.0, 8e9)
    assert (cluster.network.bandwidth_mbps, cluster.network.latency_s) == (1000.0, 0.0002)


def test_a_unit_of_another_quantity_is_refused_with_its_place(tmp_path: Path) -> None:
    operators = [{"name": "a", "instructions": 1.0, "memory_bytes": "8 parsecs"}]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**GRAPH, "operators": operators, "streams": []}))
    with pytest.raises(
        FormatError, match=r"operators\[0\].memory_bytes: must be a number, or have a unit, "
    ):
        read_graph(path)


def test_text_in_a_field_without_a_unit_is_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"devices": [{"name": "x", "mips": 1.0, "price": "3EUR"}]}))
    with pytest.raises(FormatError, match=r"devices\[0\].price: must be a number"):
        read_cluster(path)
