"""Resources on the command line: placements, messages, tables and exports."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main
from tests.support.cli import Capture, refused, succeeds

GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "source_rate": 1000,
    "operators": [
        {"name": "read", "instructions": 1e5, "payload_bytes": 10},
        {"name": "embed", "instructions": 1e5, "payload_bytes": 10, "resources": {"gpu": 0.5}},
        {"name": "rank", "instructions": 1e5, "resources": {"gpu": 0.5}},
        {"name": "detect", "instructions": 1e5, "resources": {"gpu": 1}},
    ],
    "streams": [
        {"source": "read", "target": "embed"},
        {"source": "embed", "target": "rank"},
        {"source": "embed", "target": "detect"},
    ],
}
CLUSTER: dict[str, Any] = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": [
        {"name": "plain", "mips": 2500},
        {"name": "gpu1", "mips": 2500, "resources": {"gpu": 1}},
        {"name": "gpu2", "mips": 2500, "resources": {"gpu": 1}},
    ],
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    graph, cluster = tmp_path / "graph.json", tmp_path / "cluster.json"
    graph.write_text(json.dumps(GRAPH))
    cluster.write_text(json.dumps(CLUSTER))
    return graph, cluster


@pytest.mark.parametrize(
    "placer",
    [
        "auto",
        "exact",
        "greedy",
        "round-robin",
        "metis",
        "search",
        "multilevel",
        "fuser",
        "policy",
        "contiguous",
    ],
)
def test_placers_respect_resources(placer: str, files: tuple[Path, Path], capsys: Capture) -> None:
    graph, cluster = files
    text = succeeds(capsys, "place", graph, "--cluster", cluster, "--placer", placer, "--json")
    found = json.loads(text)
    on = found["assignment"]
    assert on["embed"] == on["rank"] != on["detect"]
    assert "plain" not in (on["embed"], on["detect"])
    assert found["resources"] == [
        {"device": device, "resource": "gpu", "used": 1.0, "free": 0.0}
        for device in ("gpu1", "gpu2")
    ]


def test_tables_show_what_is_used_and_offered(
    files: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    graph, cluster = files
    placed = tmp_path / "placement.json"
    text = succeeds(capsys, "place", graph, "--cluster", cluster, "-o", placed)
    assert text.count("1 of 1 gpu") == 2
    explained = succeeds(capsys, "explain", placed)
    assert explained.splitlines()[-4].split() == ["device", "resources"]
    assert explained.count("1 of 1 gpu") == 2
    assert json.loads(succeeds(capsys, "explain", placed, "--json"))["resources"]


def test_a_lost_device_is_named_by_what_is_missing(
    files: tuple[Path, Path], capsys: Capture
) -> None:
    graph, cluster = files
    options = (graph, "--cluster", cluster, "--without")
    assert refused(capsys, "place", *options, "gpu2").endswith(
        "resources: the operators need 2 gpu, but the devices offer 1 in all; "
        "add devices that offer 'gpu'"
    )
    assert refused(capsys, "place", *options, "gpu1,gpu2").endswith(
        "no device may run operator 'embed': it needs 0.5 gpu ('plain' offers none)"
    )


def test_a_placement_keeps_its_resources_and_is_repaired(
    files: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    graph, cluster = files
    placed, larger = tmp_path / "placement.json", tmp_path / "larger.json"
    succeeds(capsys, "place", graph, "--cluster", cluster, "-o", placed)
    devices = [*CLUSTER["devices"][:2], {**CLUSTER["devices"][2], "name": "gpu3"}]
    larger.write_text(json.dumps({**CLUSTER, "devices": devices}))
    text = succeeds(
        capsys, "place", graph, "--cluster", larger, "--start", placed, "--max-moves", 0, "--json"
    )
    moves = json.loads(text)["moves"]
    assert {move["to"] for move in moves} == {"gpu3"}
    assert all(move["forced"] for move in moves)


def test_exports_say_what_they_assume(
    files: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    graph, cluster = files
    placed, out = tmp_path / "placement.json", tmp_path / "job.yaml"
    succeeds(capsys, "place", graph, "--cluster", cluster, "-o", placed)
    succeeds(capsys, "export", placed, "--to", "kubernetes", "-o", out)
    assert "# Assumed: nvidia.com/gpu stands for 'gpu'\n" in out.read_text()
    assert out.read_text().count("nvidia.com/gpu: '1'") == 4  # limits and requests of two PEs


def test_simulate_says_what_a_placement_violates(files: tuple[Path, Path], capsys: Capture) -> None:
    graph, cluster = files
    mapping = graph.with_name("mapping.csv")
    mapping.write_text("operator,device\nread,plain\nembed,plain\nrank,gpu1\ndetect,gpu1\n")
    command = ("simulate", graph, mapping, "--cluster", cluster)
    assert main([str(part) for part in command]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in notes if "violates" in line] == [
        "violates resources['gpu'] of plain: it needs 0.5 but has none",
        "violates resources['gpu'] of gpu1: it needs 1.5 but has 1",
    ]
    found = json.loads(succeeds(capsys, *command, "--json"))["violations"]
    assert [each["rule"] for each in found] == [
        "resources['gpu'] of plain",
        "resources['gpu'] of gpu1",
    ]
