"""The options --without and --slow."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Capture, json_of, refused, succeeds
from tests.support.input_files import chain

DEVICES = [{"name": name, "mips": 1000} for name in ("a1", "a2", "a3")]
GRAPH = chain("xyz", 5e5)
CLUSTER = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": DEVICES,
    "network": {"overrides": [{"from": "a2", "to": "a3", "bandwidth_mbps": 10}]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a graph of three operators and a cluster of three devices."""
    write(tmp_path, graph=GRAPH, cluster=CLUSTER)
    return tmp_path


def write(folder: Path, **documents: Any) -> None:
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))


def placed(folder: Path, capsys: Capture, *options: object) -> dict[str, Any]:
    found: dict[str, Any] = json_of(
        capsys, "place", folder / "graph.json", "--cluster", folder / "cluster.json", *options
    )
    return found


def test_a_lost_device_is_not_used(folder: Path, capsys: Capture) -> None:
    found = placed(folder, capsys, "--without", "a2")
    assert [device["name"] for device in found["devices"]] == ["a1", "a3"]
    assert found["throughput"] == pytest.approx(1000)
    assert placed(folder, capsys, "--without", "a2,a3")["throughput"] == pytest.approx(1000 / 1.5)


def test_a_slow_device_is_slower(folder: Path, capsys: Capture) -> None:
    found = placed(folder, capsys, "--without", "a2,a3", "--slow", "a1=0.5")
    assert found["throughput"] == pytest.approx(1000 / 3)


def test_a_loss_of_the_current_placement(folder: Path, capsys: Capture) -> None:
    """The cluster comes from the placement, and its operators on the lost device move."""
    old = folder / "old.json"
    before = placed(folder, capsys, "-o", old)
    lost = before["assignment"]["x"]
    found = json_of(
        capsys, "place", folder / "graph.json", "--start", old, "--without", lost, "--max-moves", 0
    )
    assert {move["operator"] for move in found["moves"]} == {
        name for name, device in before["assignment"].items() if device == lost
    }
    line = refused(capsys, "simulate", folder / "graph.json", old, "--without", lost)
    assert f"operator 'x' is on {lost!r}, which is lost" in line
    slow = json_of(capsys, "simulate", folder / "graph.json", old, "--slow", f"{lost}=0.25")
    assert slow["throughput"] < before["throughput"]


def test_plan_and_compare(folder: Path, capsys: Capture) -> None:
    graph = folder / "graph.json"
    write(folder, cluster={**CLUSTER, "network": {}})
    cluster = ("--cluster", folder / "cluster.json", "--without", "a3")
    assert (
        json_of(capsys, "plan", graph, *cluster, "--slow", "a1=0.5,a2=0.5")["fewest_devices"] == 3
    )
    found = json_of(capsys, "compare", graph, *cluster, "--placers", "metis,greedy")
    assert found["rows"][0]["mean_devices"] <= 2


def test_a_pin_to_a_lost_device_names_both(folder: Path, capsys: Capture) -> None:
    rules = {"pins": {"y": "a2"}, "allowed": {"z": ["a2", "a3"]}}
    write(folder, rules=rules, pinned={**GRAPH, "constraints": rules})
    cluster = ("--cluster", folder / "cluster.json", "--without", "a2")
    for arguments in (
        ("place", folder / "graph.json", "--constraints", folder / "rules.json"),
        ("place", folder / "pinned.json"),
        ("plan", folder / "pinned.json"),
    ):
        line = refused(capsys, *arguments, *cluster)
        assert "'y' is pinned to 'a2', which is lost" in line
    write(folder, rules={"allowed": {"z": ["a2", "a3"]}})
    options = ("--constraints", folder / "rules.json", "--without", "a2")
    assert placed(folder, capsys, *options)["assignment"]["z"] == "a3"
    options = ("--constraints", folder / "rules.json", "--without", "a2,a3")
    arguments = ("place", folder / "graph.json", "--cluster", folder / "cluster.json")
    line = refused(capsys, *arguments, *options)
    assert "'z' is allowed only on 'a2', 'a3', which are lost" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--without", "a4"), "--without: unknown device or group 'a4'"),
        (("--slow", "b=0.5"), "--slow: unknown device or group 'b'"),
        (("--slow", "a1"), "expected NAME=SHARE with a share above 0"),
        (("--slow", "a1=1.5"), "at most 1"),
        (("--slow", "a1=0"), "expected NAME=SHARE with a share above 0"),
        (("--slow", "a1=0.5,a1=0.2"), "--slow: names 'a1' twice"),
        (("--slow", "a1=x"), "expected NAME=SHARE with a share above 0"),
        (("--without", "a1,"), "expected device names"),
        (("--without", "a1,a2,a3"), "--without: no device is left"),
    ],
)
def test_invalid_losses(
    options: tuple[str, str], message: str, folder: Path, capsys: Capture
) -> None:
    cluster = ("--cluster", folder / "cluster.json")
    assert message in refused(capsys, "place", folder / "graph.json", *cluster, *options)


def test_a_loss_of_the_default_cluster(folder: Path, capsys: Capture) -> None:
    out = succeeds(capsys, "place", folder / "graph.json", "--without", "d0,d1,d2,d3")
    assert "d4" in out
    assert "d0" not in out


def test_a_group_means_all_of_its_devices(folder: Path, capsys: Capture) -> None:
    groups = ("left", "left", "right")
    devices = [{**one, "group": group} for one, group in zip(DEVICES, groups, strict=True)]
    write(folder, cluster={"format": "streamplace-cluster", "version": 1, "devices": devices})
    found = placed(folder, capsys, "--without", "left")
    assert [device["name"] for device in found["devices"]] == ["a3"]
    slow = placed(folder, capsys, "--without", "right", "--slow", "left=0.25")
    assert slow["throughput"] == pytest.approx(
        placed(folder, capsys, "--without", "a3")["throughput"] / 4
    )
    one = placed(folder, capsys, "--without", "right", "--slow", "a1=1,left=0.25")
    assert one["throughput"] > slow["throughput"]
