"""The keys that `--json` prints; stdout contains nothing but JSON."""

import json
from pathlib import Path

import pytest

from tests.support.cli import SCORE_KEYS, Capture, check_score_keys, json_of, succeeds
from tests.support.input_files import CLUSTER, InputFiles

RESULT = SCORE_KEYS | {"assignment", "placer", "bound", "gap", "proven"}
RESULT |= {"seconds", "max_source_rate"}
EXPLANATION = {"throughput", "relative_throughput", "bottleneck", "contributors", "moves"}
EXPLANATION |= {
    "rate_factor",
    "every_move_tried",
    "model",
    "cause",
    "violations",
    "constraint_costs",
    "against",
    "bound",
    "gap",
    "proven",
}
MOVE = {"operators", "from", "to", "throughput", "gain", "bottleneck"}
ROW = {
    "placer",
    "source_rate",
    "mean",
    "q1",
    "median",
    "min",
    "share_above_0.97",
    "better_than_metis",
    "tied_with_metis",
    "worse_than_metis",
    "mean_devices",
    "seconds_per_graph",
    "cpu_seconds_per_graph",
    "minus_first",
    "minus_first_low",
    "minus_first_high",
    "start",
    "over_start",
}


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_keys_of_simulate(model: str, inputs: InputFiles, capsys: Capture) -> None:
    found = json_of(capsys, "simulate", inputs.graph, inputs.cepsim, "--model", model)
    assert set(found) == SCORE_KEYS  # and violations, where a rule is violated
    check_score_keys(found, devices=5)
    assert [(link["from"], link["to"]) for link in found["links"]] == [("d0", "d1")]
    assert [row["operators"] for row in found["devices"]] == [2, 1, 0, 0, 0]
    assert found["devices_used"] == 2
    assert found["model"] == model


def test_simulate_names_one_end_of_a_network_interface(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    nic = tmp_path / "nic.json"
    slow = {"kind": "nic", "bandwidth_mbps": 1e-3}
    nic.write_text(json.dumps({**CLUSTER, "network": slow}))
    found = json_of(capsys, "simulate", inputs.graph, inputs.cepsim, "--cluster", nic)
    check_score_keys(found, devices=2)
    ends = [(link["from"], link["to"]) for link in found["links"]]
    assert sorted(ends, key=str) == sorted([("d0", None), (None, "d1")], key=str)
    assert found["bottleneck"]["kind"] == "link"
    assert found["bottleneck"]["name"] in ("d0->", "->d1")


@pytest.mark.parametrize("placer", ["auto", "single", "metis:parts=2", "fuser-oracle"])
def test_keys_of_place(placer: str, inputs: InputFiles, capsys: Capture) -> None:
    found = json_of(capsys, "place", inputs.graph, "--cluster", inputs.cluster, "--placer", placer)
    assert set(found) == RESULT
    check_score_keys(found, devices=2)
    assert set(found["assignment"]) == {"a", "b", "c"}
    assert set(found["assignment"].values()) <= {"d0", "d1"}
    assert found["placer"] == placer
    assert found["throughput"] <= found["bound"] <= 1000.0


@pytest.mark.parametrize("metis_too", [True, False])
def test_keys_of_compare(metis_too: bool, inputs: InputFiles, capsys: Capture) -> None:
    placers = ["single", "round-robin"] + ["metis"] * metis_too
    command = ["compare", inputs.graph, "--placers", ",".join(placers), "--source-rate", "1e3,1e6"]
    found = json_of(capsys, *command, "--jobs", "1")
    assert set(found) == {"dataset", "graphs", "model", "rows"}
    assert found["dataset"] == str(inputs.graph)
    assert found["graphs"] == 1
    assert all(set(row) == ROW for row in found["rows"])
    expected = [(placer, rate) for rate in (1e3, 1e6) for placer in placers]
    assert [(row["placer"], row["source_rate"]) for row in found["rows"]] == expected
    for row in found["rows"]:
        against = [row[f"{word}_metis"] for word in ("better_than", "tied_with", "worse_than")]
        assert sum(against) == 1.0 if metis_too else against == [None, None, None]


OTHER_KEYS = ("relative_throughput", "rescaled", "memory_bytes", "devices_gone", "devices_new")


def test_keys_of_diff(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, placer in zip(files, ("single", "round-robin"), strict=True):
        succeeds(capsys, "place", inputs.graph, "--placer", placer, "-o", file)
    found = json_of(capsys, "diff", *files)
    assert set(found) == {"moves", "throughput", *OTHER_KEYS}
    assert found["moves"] == [
        {"operator": "b", "from": "d0", "to": "d1"},
        {"operator": "c", "from": "d0", "to": "d2"},
    ]
    assert len(found["throughput"]) == 2
    assert json_of(capsys, "diff", files[0], files[0])["moves"] == []


def test_keys_of_explain(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.json"
    options = ["--devices", "3x5", "--placer", "single", "-o", file]
    succeeds(capsys, "place", inputs.graph, *options)
    found = json_of(capsys, "explain", file)
    assert set(found) == EXPLANATION
    assert found["bottleneck"] == {
        "kind": "device",
        "name": "d0",
        "utilisation": pytest.approx(1.2),
    }
    assert set(found["contributors"][0]) == {"operator", "utilisation", "share"}
    assert [one["operator"] for one in found["contributors"]] == ["c", "b", "a"]
    assert set(found["moves"][0]) == MOVE
    assert set(found["moves"][0]["bottleneck"]) == {"kind", "name", "utilisation"}
    assert [move["operators"] for move in found["moves"][:2]] == [["c"], ["c"]]
    assert {(move["from"], move["to"]) for move in found["moves"]} == {("d0", "d1"), ("d0", "d2")}
    assert found["throughput"] == pytest.approx(1000 / 1.2)
    assert found["moves"][0]["throughput"] == 1000.0


def test_keys_of_explain_for_a_link(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    file, nic = tmp_path / "placement.json", tmp_path / "nic.json"
    slow = {"kind": "nic", "bandwidth_mbps": 0.5}
    nic.write_text(json.dumps({**CLUSTER, "network": slow}))
    command = ["place", inputs.graph, "--cluster", nic, "--placer", "round-robin", "-o", file]
    succeeds(capsys, *command)
    found = json_of(capsys, "explain", file)
    assert found["bottleneck"]["name"] == "d0->"
    assert found["contributors"] == [
        {"from": "a", "to": "b", "utilisation": pytest.approx(1.6), "share": 1.0}
    ]


@pytest.mark.parametrize("kind", ["graph", "cluster", "placement", "scene", "jobs"])
def test_keys_of_schema(kind: str, capsys: Capture) -> None:
    plain = json.loads(succeeds(capsys, "schema", kind))
    assert plain == json_of(capsys, "schema", kind)
    assert plain["type"] == "object"
    assert plain["additionalProperties"] is False


def test_commands_that_write_files_print_their_names(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    dataset = tmp_path / "x.jsonl"
    found = json_of(capsys, "generate", "dream", "--count", "2", "-o", dataset)
    assert found == {"preset": "dream", "graphs": 2, "seed": 0, "file": str(dataset)}
    starters = [str(tmp_path / "graph.json"), str(tmp_path / "cluster.json")]
    assert json_of(capsys, "init", tmp_path) == {"files": starters}
    placement, table = tmp_path / "placement.json", tmp_path / "table.csv"
    json_of(capsys, "place", inputs.graph, "--placer", "single", "-o", placement)
    exported = json_of(capsys, "export", placement, "--to", "csv", "-o", table)
    assert exported == {"format": "csv", "file": str(table)}


def test_info_recognises_kinds(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    dataset = tmp_path / "x.jsonl"
    succeeds(capsys, "generate", "dream", "--count", "2", "-o", dataset)
    kinds = {
        inputs.graph: "graph",
        inputs.cluster: "cluster",
        inputs.cepsim: "CEPSim placement",
        inputs.placement: "placement",
        dataset: "dataset",
    }
    for file, kind in kinds.items():
        assert json_of(capsys, "info", file)["kind"] == kind


def test_text_without_json(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    placement = tmp_path / "placement.json"
    output = succeeds(capsys, "place", inputs.graph, "--placer", "single", "-o", placement)
    assert "throughput 1,000 tuples/s, 100.0% of 1,000 (bottleneck)" in output
    assert "placed by single" in output
    assert "0 moves" in succeeds(capsys, "diff", placement, placement)
    assert "operators: 3" in succeeds(capsys, "info", inputs.graph)
    command = ["compare", inputs.graph, "--jobs", "1", "--placers"]
    output = succeeds(capsys, *command, "single,metis")
    assert "relative throughput over 1 graph (bottleneck)" in output
    assert output.splitlines()[-2:] == [
        "vs metis: share of graphs better (+) and worse (-)",
        "difference to single: mean over the graphs",
    ]
    assert "vs metis:" not in succeeds(capsys, *command, "single")
