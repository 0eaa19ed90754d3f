"""Messages of commands about makespans that cannot be computed, and notes on devices' kinds."""

import json
from pathlib import Path

import pytest

import streamplace as sp
from streamplace.cli.main import main
from streamplace.files import write_cluster, write_dataset
from tests.support.cli import Capture, json_of, refused, succeeds

AIM = ("--objective", "makespan")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a graph, of which `mesh` cannot run on a GPU, and two clusters."""
    on = {"gpu": 0.5}
    operators = [
        sp.Operator("load", 1e6, 10.0),
        sp.Operator("net", 4e6, 10.0, seconds_on=on),
        sp.Operator("mesh", 2e6, 0.0, seconds_on={"gpu": None}),
    ]
    streams = [sp.Stream("load", "net"), sp.Stream("net", "mesh")]
    write_dataset(tmp_path / "graph.json", [sp.StreamGraph(operators, streams, firing="all")])
    devices = [sp.Device(name, 1, kind="cpu", group="rack") for name in ("c1", "c2")]
    devices.append(sp.Device("g", 1, kind="gpu", group="other"))
    write_cluster(tmp_path / "cluster.json", sp.Cluster(devices))
    uplinks = (sp.Uplink("rack", 1.0), sp.Uplink("other", 1.0))
    write_cluster(tmp_path / "uplinks.json", sp.Cluster(devices, sp.Network(uplinks=uplinks)))
    (tmp_path / "bad.csv").write_text("operator,device\nload,c1\nnet,g\nmesh,g\n")
    (tmp_path / "good.csv").write_text("operator,device\nload,c1\nnet,g\nmesh,c1\n")
    return tmp_path


def files(folder: Path, cluster: str = "cluster") -> tuple[object, ...]:
    return folder / "graph.json", "--cluster", folder / f"{cluster}.json"


def test_simulate_names_the_mapping_whose_device_cannot_run_an_operator(
    folder: Path, capsys: Capture
) -> None:
    graph, *cluster = files(folder)
    message = refused(capsys, "simulate", graph, folder / "bad.csv", *cluster, *AIM)
    place = "bad.csv: operator 'mesh' is on device 'g', but it cannot run on devices of kind 'gpu'"
    assert place in message
    assert "never ends" not in message


def test_an_operator_whose_device_cannot_run_it_has_to_move(folder: Path, capsys: Capture) -> None:
    start = ("--start", folder / "bad.csv", "--max-moves", 0)
    found = json_of(capsys, "place", *files(folder), *AIM, *start)
    assert [(row["operator"], row["forced"]) for row in found["moves"]] == [("mesh", True)]
    assert found["makespan_before_s"] is None
    stored = ("-o", folder / "before.json")
    succeeds(capsys, "place", *files(folder), *AIM, "--start", folder / "good.csv", *stored)
    document = json.loads((folder / "before.json").read_text())
    document["assignment"]["mesh"] = "g"
    (folder / "before.json").write_text(json.dumps(document))
    found = json_of(capsys, "place", *files(folder), *AIM, "--start", folder / "before.json")
    assert found["makespan_before_s"] is None


def test_without_further_moves_the_two_makespans_are_equal(folder: Path, capsys: Capture) -> None:
    """The least loaded device, which an operator goes to first, need not be the best for it."""
    (folder / "g.csv").write_text("operator,device\nload,c1\nnet,g\nmesh,c1\n")
    stored = ("-o", folder / "before.json")
    start = ("--start", folder / "g.csv", "--max-moves", 0)
    succeeds(capsys, "place", *files(folder), *AIM, *start, *stored)
    again = ("--start", folder / "before.json", "--without", "g", "--max-moves", 2)
    found = json_of(capsys, "place", folder / "graph.json", *again)
    assert [row["operator"] for row in found["moves"]] == ["net"]
    assert found["makespan_without_moves_s"] == found["makespan_s"]


def test_a_lost_kind_is_not_taken_for_a_misspelt_one(folder: Path, capsys: Capture) -> None:
    words = ("place", *files(folder), *AIM, "--without", "g")
    assert main([str(word) for word in words]) == 0
    notes = capsys.readouterr().err
    assert "no device of kind 'gpu' is left" in notes
    assert "did you mean" not in notes


def test_uplinks_are_not_in_the_file_of_the_graph(folder: Path, capsys: Capture) -> None:
    message = refused(capsys, "place", *files(folder, "uplinks"), *AIM)
    assert "network.uplinks['rack'] of the cluster: makespans are not defined" in message
    assert "graph.json" not in message


def test_a_missing_source_rate_is_the_graphs_and_names_makespans(
    folder: Path, capsys: Capture
) -> None:
    graph, *cluster = files(folder)
    message = refused(capsys, "simulate", graph, folder / "good.csv", *cluster)
    assert "graph.json: source_rate: the graph has no source rate; for the time of one" in message
    assert "--objective makespan" in message
    assert "good.csv" not in message


@pytest.mark.parametrize("option", [("--noise", 2), ("--repeats", 2)], ids=lambda option: option[0])
def test_a_wrong_setting_is_named_as_on_the_command_line(
    folder: Path, option: tuple[str, int], capsys: Capture
) -> None:
    assert f"streamplace: {option[0]}: " in refused(capsys, "place", *files(folder), *AIM, *option)


def test_place_names_the_command_that_draws_schedules(folder: Path, capsys: Capture) -> None:
    message = refused(capsys, "place", *files(folder), *AIM, "--gantt", "x.png")
    assert "unknown option '--gantt'; simulate has it" in message


def test_explain_prints_the_whole_critical_path_whatever_top_says(
    folder: Path, capsys: Capture
) -> None:
    start = ("--start", folder / "good.csv", "--max-moves", 0)
    succeeds(capsys, "place", *files(folder), *AIM, *start, "-o", folder / "p.json")
    text = succeeds(capsys, "explain", folder / "p.json", "--top", 1)
    assert "chain of last inputs: load -> net -> mesh" in text
    for step in ("load -> net", "net -> mesh"):
        assert f"\n{step} " in text
    text = succeeds(
        capsys, "simulate", folder / "graph.json", folder / "p.json", "--noise", 0.1, "--repeats", 4
    )
    assert "for one pass, mean and standard deviation over 4 passes (order fifo)" in text


@pytest.mark.parametrize("command", ["place", "simulate", "compare"])
def test_makespans_name_the_rules_that_hold(command: str, folder: Path, capsys: Capture) -> None:
    graph, *cluster = files(folder)
    words = {"simulate": (folder / "good.csv",), "compare": ("--placers", "heft")}
    common = (command, graph, *words.get(command, ()), *cluster, *AIM)
    output = ("-o", folder / "out.json") if command == "place" else ()
    assert "(order fifo)" in succeeds(capsys, *common, *output)
    text = succeeds(capsys, *common, *output, "--barrier", "--inputs-everywhere")
    assert "(order fifo, barrier, inputs everywhere)" in text


def test_a_graph_of_streamplace_needs_no_import(folder: Path, capsys: Capture) -> None:
    words = ("import", folder / "graph.json", "--from", "dnn-latency", "-o", folder / "x.json")
    assert "graph.json: is a graph of streamplace; only other" in refused(capsys, *words)


def test_a_faulty_line_of_doppler_is_cut_visibly(folder: Path, capsys: Capture) -> None:
    (folder / "other.txt").write_text("node1 -- " + 80 * "x" + 5 * "\n1")
    words = ("import", folder / "other.txt", "--from", "doppler", "-o", folder / "x.json")
    assert refused(capsys, *words).strip().endswith("xxx…')")


def test_an_objective_that_a_placer_does_not_support_is_in_no_file(
    folder: Path, capsys: Capture
) -> None:
    message = refused(capsys, "place", *files(folder), *AIM, "--placer", "greedy")
    assert "graph.json" not in message
    assert "for makespans use auto, search" in message
    rate = ("--source-rate", 1)
    message = refused(capsys, "place", *files(folder), "--placer", "heft", *rate)
    assert "graph.json" not in message
    assert "add --objective makespan" in message
