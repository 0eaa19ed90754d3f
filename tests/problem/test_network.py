"""Groups of devices: checks, the links that they share, and overrides by group."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamplace import Cluster, Device, Network, Problem, read_cluster
from streamplace.errors import ClusterError
from streamplace.files import write_cluster
from streamplace.files.clusters import cluster_from, cluster_to
from streamplace.problem.cluster import LinkOverride, Uplink
from streamplace.problem.symmetry import interchangeable
from streamplace.util.suggest import did_you_mean
from tests.support.cli import Capture, json_of, refused
from tests.support.graphs import chain_graph

RACKS = [
    Device("a0", 1000.0, group="a"),
    Device("a1", 1000.0, group="a"),
    Device("b0", 1000.0, group="b"),
    Device("alone", 1000.0),
]
UPLINKS = (Uplink("b", 5.0, None), Uplink("a", 2.0, 3.0))


def test_uplinks_follow_the_links_of_devices_in_the_order_of_devices() -> None:
    cluster = Cluster(RACKS, Network("nic", 100.0, uplinks=UPLINKS))
    assert cluster.groups == ("a", "b")
    assert cluster.group_of.tolist() == [0, 0, 1, 2]
    assert cluster.limited_uplinks == (("a", "up", 2.0), ("b", "up", 5.0), ("a", "down", 3.0))
    assert cluster.uplinks_of_devices("up").tolist() == [8, 8, 9, -1]
    assert cluster.uplinks_of_devices("down").tolist() == [10, 10, -1, -1]
    assert cluster.link_column("bandwidth_mbps").tolist() == [100.0] * 8 + [2.0, 5.0, 3.0]
    assert cluster.link_column("latency_s").tolist() == [0.001] * 8 + [0.0] * 3


def test_unlimited_uplinks_are_no_links() -> None:
    cluster = Cluster(RACKS, Network(uplinks=(Uplink("a"),)))
    assert len(cluster.link_column("gap_s")) == 16
    assert cluster.uplinks_of_devices("up").tolist() == []


def test_overrides_that_name_devices_count_more_than_those_of_groups() -> None:
    overrides = (
        LinkOverride("a0", "b0", latency_s=0.5),
        LinkOverride("a0", target_group="b", bandwidth_mbps=3.0),
        LinkOverride(source_group="a", target_group="b", bandwidth_mbps=1.0, latency_s=0.1),
        LinkOverride(source_group="a", target="b0", bandwidth_mbps=2.0, gap_s=0.2),
    )
    cluster = Cluster(RACKS, Network("pair", 9.0, overrides=overrides))
    from_a0, from_a1, back = 0 * 4 + 2, 1 * 4 + 2, 2 * 4 + 0
    column = cluster.link_column
    assert column("bandwidth_mbps")[[from_a0, from_a1, back]].tolist() == [2.0, 2.0, 9.0]
    assert column("latency_s")[[from_a0, from_a1, back]].tolist() == [0.5, 0.1, 0.001]
    assert column("gap_s")[[from_a0, from_a1, back]].tolist() == [0.2, 0.2, 0.0]


def test_overrides_of_the_interfaces_of_a_group() -> None:
    overrides = (LinkOverride(source_group="a", bandwidth_mbps=1.0), LinkOverride("a1", gap_s=0.5))
    cluster = Cluster(RACKS, Network("nic", 9.0, overrides=overrides))
    assert cluster.link_column("bandwidth_mbps").tolist() == [1.0, 1.0, *[9.0] * 6]
    assert cluster.link_column("gap_s").tolist() == [0.0, 0.5, *[0.0] * 6]


def test_only_devices_of_one_group_are_interchangeable_where_groups_matter() -> None:
    graph = chain_graph(1.0, 1.0)
    plain = Problem(graph, Cluster(RACKS), source_rate=1.0)
    shared = Problem(graph, Cluster(RACKS, Network(uplinks=UPLINKS)), source_rate=1.0)
    assert interchangeable(plain).tolist() == [0, 0, 0, 0]
    assert interchangeable(shared).tolist() == [0, 0, 1, 2]


def test_files_keep_groups_and_stay_as_they_were_without(tmp_path: Path) -> None:
    overrides = (
        LinkOverride("a0", target_group="b", gap_s=1.0),
        LinkOverride(source_group="a", target="b0", gap_s=2.0),
    )
    cluster = Cluster(RACKS, Network("pair", overrides=overrides, uplinks=UPLINKS))
    write_cluster(tmp_path / "c.json", cluster)
    assert read_cluster(tmp_path / "c.json") == cluster
    value = cluster_to(cluster)
    assert value["network"]["uplinks"] == {
        "b": {"up_mbps": 5.0},
        "a": {"up_mbps": 2.0, "down_mbps": 3.0},
    }
    assert value["network"]["overrides"][0] == {"from": "a0", "to_group": "b", "gap_s": 1.0}
    plain = json.dumps(cluster_to(Cluster.equal(2)))
    assert "group" not in plain
    assert "uplinks" not in plain
    assert "group" not in repr(Device("a", 1.0)) + repr(Network()) + repr(LinkOverride("a", "b"))


FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "empty group": (lambda: Device("a", 1.0, group=""), "^device 'a': the group's name is empty"),
    "group of another type": (lambda: Device("a", 1.0, group=3), "^device 'a': group"),  # type: ignore[arg-type]
    "no group": (
        lambda: Cluster.equal(2, network=Network(uplinks=UPLINKS)),
        r"^network\.uplinks\['b'\]: unknown group 'b'; no device has a group",
    ),
    "unknown group": (
        lambda: Cluster([Device("d", 1.0, group="rack1")], Network(uplinks=(Uplink("rck1"),))),
        r"^network\.uplinks\['rck1'\]: unknown group 'rck1'; did you mean 'rack1'\?",
    ),
    "zero": (
        lambda: Network(uplinks=(Uplink("a", 0.0),)),
        r"^network\.uplinks\['a'\]: up_mbps must be",
    ),
    "negative": (
        lambda: Network(uplinks=(Uplink("a", 1.0, -1.0),)),
        r"^network\.uplinks\['a'\]: down_mbps must be",
    ),
    "twice": (lambda: Network(uplinks=(Uplink("a"), Uplink("a"))), "duplicate group 'a'"),
    "override of an unknown group": (
        lambda: Cluster(RACKS, Network(overrides=(LinkOverride("a0", target_group="c"),))),
        r"^network\.overrides\[0\]: to_group: unknown group 'c'",
    ),
    "device and group": (
        lambda: Cluster(RACKS, Network(overrides=(LinkOverride("a0", "b0", target_group="b"),))),
        r"^network\.overrides\[0\]: to and to_group exclude each other",
    ),
    "half": (
        lambda: Cluster(RACKS, Network(overrides=(LinkOverride(source_group="a"),))),
        r"^network\.overrides\[0\]: pair links need both from and to, or groups instead",
    ),
    "the same groups twice": (
        lambda: Cluster(RACKS, Network("nic", overrides=(LinkOverride(source_group="a"),) * 2)),
        r"^network\.overrides\[1\]: the link has an override already",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    make, message = FAULTS[name]
    with pytest.raises(ClusterError, match=message):
        make()


def test_a_suggestion_names_the_nearest_group() -> None:
    assert did_you_mean("rck1", ("rack1",)) == "; did you mean 'rack1'?"


@pytest.mark.parametrize(
    ("uplinks", "message"),
    [
        ({"rck1": {}}, "network.uplinks['rck1']: unknown group 'rck1'; did you mean 'rack1'?"),
        ({"rack1": {"up_mbps": 0}}, "up_mbps"),
        ({"rack1": {"down_mbps": -5}}, "down_mbps"),
        ({"rack1": {"up": 5}}, "network.uplinks.rack1: unknown field 'up'"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(
    uplinks: Any, message: str, tmp_path: Path, capsys: Capture
) -> None:
    value = {"devices": [{"name": "d", "mips": 1, "group": "rack1"}], "network": {}}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(value | {"network": {"uplinks": uplinks}}))
    error = refused(capsys, "info", path)
    assert str(path) in error
    assert message in error


def test_info_names_groups_and_uplinks(tmp_path: Path, capsys: Capture) -> None:
    cluster = Cluster(RACKS, Network(uplinks=UPLINKS))
    write_cluster(tmp_path / "c.json", cluster)
    facts = json_of(capsys, "info", tmp_path / "c.json")
    assert facts["groups"] == {"a": ["a0", "a1"], "b": ["b0"]}
    assert facts["uplinks"]["a"] == {"up_mbps": 2.0, "down_mbps": 3.0}
    assert "4 devices in 2 groups" in repr(cluster)
    assert "2 groups with uplinks" in repr(cluster)
    assert cluster_from(cluster_to(cluster), "x") == cluster
