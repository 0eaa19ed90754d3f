"""Clusters as JSON files, and lists of them as JSON lines."""

import gzip
import json
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import streamplace as sp
from benchmarks.reference.strategies import clusters
from streamplace.errors import FormatError
from streamplace.files import read_cluster, write_cluster
from streamplace.files.clusters import cluster_from, cluster_to
from streamplace.files.schema import ClusterForm
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from tests.corpus.documents import CLUSTER
from tests.support.errors import result_or_error
from tests.support.strategies import altered_json


@given(clusters())
def test_round_trip(cluster: Cluster) -> None:
    value = cluster_to(cluster)
    assert cluster_from(json.loads(json.dumps(value)), "x") == cluster
    ClusterForm.model_validate(value)


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_round_trip_of_a_cluster_with_every_field(ending: str, tmp_path: Path) -> None:
    devices = [Device("größe", 1.5, 3, 7.0, ("gpu", "ssd")), Device("b", 2.0, memory_bytes=0.0)]
    overrides = (LinkOverride("b", None, 1.0, 2.0, 3.0, 4.0), LinkOverride(None, "b", gap_s=0.0))
    cluster = Cluster(devices, Network("nic", None, 0.1, 0.2, 0.3, overrides))
    path = tmp_path / f"c{ending}"
    write_cluster(path, cluster)
    assert read_cluster(path) == cluster
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == (ending == ".json.gz")


def test_defaults_are_those_of_the_library() -> None:
    value = {"devices": [{"name": "a", "mips": 1}]}
    assert cluster_from(value, "x") == Cluster([Device("a", 1.0)])
    assert cluster_from({**value, "network": {}}, "x") == Cluster([Device("a", 1.0)])


def test_null_bandwidth_means_no_limit() -> None:
    cluster = cluster_from(CLUSTER, "x")
    assert cluster.network.bandwidth_mbps is None
    assert cluster.network.overrides == (LinkOverride("d0", "d1", 10.0, gap_s=1e-6),)


def test_null_bandwidth_of_an_override_means_no_limit() -> None:
    """A key that is missing takes the network's value, or that of a less specific override."""
    devices = [{"name": name, "mips": 1, "group": "g"} for name in "abc"]
    overrides = [
        {"from_group": "g", "to_group": "g", "bandwidth_mbps": 10},
        {"from": "a", "to": "b", "bandwidth_mbps": None, "latency_s": None},
        {"from": "b", "to": "a", "latency_s": 0.5},
    ]
    network = {"bandwidth_mbps": 100, "latency_s": 0.25, "overrides": overrides}
    cluster = cluster_from({"devices": devices, "network": network}, "x")
    links = dict(zip([(a, b) for a in "abc" for b in "abc"], range(9), strict=True))
    bandwidth, latency = cluster.link_column("bandwidth_mbps"), cluster.link_column("latency_s")
    assert [bandwidth[links[ends]] for ends in (("a", "b"), ("b", "a"), ("a", "c"))] == [
        inf,
        10,
        10,
    ]
    assert [latency[links[ends]] for ends in (("a", "b"), ("b", "a"))] == [0.25, 0.5]
    written = cluster_to(cluster)
    assert written["network"]["overrides"][1] == {"from": "a", "to": "b", "bandwidth_mbps": None}
    assert cluster_from(written, "x") == cluster


@given(altered_json(CLUSTER))
def test_an_altered_cluster_is_valid_or_refused_in_one_line(value: Any) -> None:
    cluster, message = result_or_error(cluster_from, value, "x.json")
    if cluster is None:
        assert message.startswith("x.json: ")
        assert "\n" not in message
    else:
        assert cluster_from(cluster_to(cluster), "x.json") == cluster


def test_two_overrides_of_one_link_are_refused() -> None:
    """Neither of two values for the same link takes precedence."""
    twice = [{"from": "d0", "to": "d1", "gap_s": gap} for gap in (0.1, 0.2)]
    with pytest.raises(FormatError, match=r"network\.overrides\[1\]"):
        cluster_from({**CLUSTER, "network": {"overrides": twice}}, "x")


CLUSTERS = [
    Cluster.equal(2),
    Cluster.parse("1x2500x4,1x1000"),
    Cluster.equal(3, 100.0, Network("free", None)),
]


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz"])
def test_written_clusters_are_read_back(name: str, tmp_path: Path) -> None:
    sp.write_clusters(tmp_path / name, iter(CLUSTERS))
    assert sp.read_clusters(tmp_path / name) == CLUSTERS
    data = (tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert len(text.splitlines()) == len(CLUSTERS)


def test_an_error_names_the_file_the_line_and_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    sp.write_clusters(path, CLUSTERS)
    path.write_text(path.read_text().replace('"mips": 1000.0', '"mips": -1'))
    with pytest.raises(FormatError) as caught:
        sp.read_clusters(path)
    assert str(caught.value).startswith(f"{path}: line 2: devices[1].mips: must be greater than 0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("[]\n", "line 1: must be an object (got a list)"),
        ("{\n", "line 1: "),
        ('{"format": "streamplace-graph"}\n', "line 1: is a graph; expected a cluster"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        sp.read_clusters(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_folder_is_no_cluster() -> None:
    """The message has no path of the installation."""
    with pytest.raises(FormatError) as caught:
        read_cluster("dataset:real")
    assert str(caught.value) == "dataset:real: is a folder; expected the file of a cluster"


def test_nothing_is_written_with_a_wrong_name_or_without_clusters(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"must end in \.jsonl or \.jsonl\.gz"):
        sp.write_clusters(tmp_path / "c.json", CLUSTERS)
    with pytest.raises(FormatError, match="must hold at least one cluster"):
        sp.write_clusters(tmp_path / "c.jsonl", [])
    assert not list(tmp_path.iterdir())
