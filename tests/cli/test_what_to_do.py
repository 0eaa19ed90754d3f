"""Messages and notes that say what to do next, where users of makespans stumbled."""

import json
from pathlib import Path

import pytest

import streamplace as sp
from streamplace.cli.main import main
from streamplace.errors import InfeasibleError
from streamplace.files import write_cluster, write_clusters, write_dataset
from tests.support.cli import Capture, json_of, refused, succeeds

AIM = ("--objective", "makespan")
LABELLED = sp.StreamGraph(
    [sp.Operator("a", 1e6, 0.0, requires=("t",)), sp.Operator("b", 1e6, 0.0)],
    [sp.Stream("a", "b")],
    name="of_a_family",
    firing="all",
)
PLAIN = sp.StreamGraph(
    [sp.Operator("a", 1e6, 1e3), sp.Operator("b", 2e6, 0.0)], [sp.Stream("a", "b")], firing="all"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with graphs, a list of clusters, one of them, and a mapping."""
    write_dataset(tmp_path / "labelled.jsonl", [LABELLED])
    write_dataset(tmp_path / "plain.json", [PLAIN])
    clusters = [sp.Cluster([sp.Device("x", 1), sp.Device("y", 2)]), sp.Cluster.parse("3x1")]
    write_clusters(tmp_path / "clusters.jsonl", clusters)
    write_clusters(tmp_path / "one.jsonl", clusters[:1])
    write_cluster(tmp_path / "cluster.json", clusters[0])
    (tmp_path / "mapping.csv").write_text("operator,device\na,x\nb,y\n")
    return tmp_path


def errors_of(capsys: Capture, *arguments: object) -> str:
    """Return what a command that succeeds prints on stderr."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().err


def placed(folder: Path, capsys: Capture, *options: object) -> Path:
    """Return the file of a placement for the makespan."""
    cluster = ("--cluster", folder / "cluster.json", *AIM, "--placer", "round-robin")
    succeeds(capsys, "place", folder / "plain.json", *cluster, *options, "-o", folder / "p.json")
    return folder / "p.json"


def test_a_mapping_becomes_a_placement_by_the_command_that_diff_names(
    folder: Path, capsys: Capture
) -> None:
    before, mapping = placed(folder, capsys), folder / "mapping.csv"
    line = refused(capsys, "diff", before, mapping)
    assert "an assignment holds no graph; to store it with the graph and the cluster" in line
    advised = f"--cluster CLUSTER {' '.join(AIM)} --start {mapping} --max-moves 0 -o FILE"
    assert line.endswith(advised)
    assert refused(capsys, "diff", mapping, before) == line
    assert AIM[0] not in refused(capsys, "diff", mapping, mapping)
    words = ("place", folder / "plain.json", "--cluster", folder / "cluster.json", *AIM)
    succeeds(capsys, *words, "--start", mapping, "--max-moves", 0, "-o", folder / "stored.json")
    assert json_of(capsys, "diff", before, folder / "stored.json")["moves"] == []


@pytest.mark.parametrize("command", ["place", "compare"])
def test_graphs_for_other_clusters_than_the_default(
    command: str, folder: Path, capsys: Capture
) -> None:
    words = (command, folder / "labelled.jsonl", *AIM)
    line = refused(capsys, *words)
    assert (
        "it requires 't' (on no device); the devices are the default 5x2500: set --cluster" in line
    )
    assert "(import --cluster-out and generate --clusters write clusters)" in line
    assert "default" not in refused(capsys, *words, "--devices", "2x1")


def test_a_mapping_for_another_cluster_than_the_default(folder: Path, capsys: Capture) -> None:
    hint = "the devices are the default 5x2500: set --cluster FILE"
    words = ("simulate", folder / "labelled.jsonl", folder / "mapping.csv", *AIM)
    assert hint in refused(capsys, *words)
    assert "default" not in refused(capsys, *words, "--devices", "2x1")


def test_a_list_of_clusters_is_not_one(folder: Path, capsys: Capture) -> None:
    words = ("place", folder / "plain.json", *AIM, "--cluster")
    line = refused(capsys, *words, folder / "clusters.jsonl")
    assert "contains 2 clusters (expected one); 'compare --clusters' takes a list" in line
    one = json_of(capsys, *words, folder / "one.jsonl")
    assert [device["name"] for device in one["devices"]] == ["x", "y"]


@pytest.mark.parametrize("kind", ["kubernetes", "storm-ras"])
def test_formats_that_reserve_cpu_name_the_way_to_a_source_rate(
    kind: str, folder: Path, capsys: Capture
) -> None:
    placement = placed(folder, capsys)
    line = refused(capsys, "export", placement, "--to", kind)
    assert f"{kind} reserves the CPU that operators need at a source rate" in line
    assert "--start FILE --max-moves 0 --objective throughput --source-rate R -o FILE" in line
    throughput = ("--objective", "throughput", "--source-rate", 0.1)
    start = ("place", folder / "plain.json", "--start", placement, "--max-moves", 0)
    succeeds(capsys, *start, *throughput, "-o", folder / "q.json")
    assert json_of(capsys, "diff", placement, folder / "q.json")["moves"] == []
    succeeds(capsys, "export", folder / "q.json", "--to", kind)
    succeeds(capsys, "export", placement, "--to", "flink")


def test_the_header_names_the_semantics(folder: Path, capsys: Capture) -> None:
    semantics = ("--semantics", "placeto")
    files = (folder / "plain.json", "--cluster", folder / "cluster.json", *AIM, *semantics)
    assert "for one pass (order fifo, placeto)" in succeeds(capsys, "place", *files)
    document = json_of(capsys, "place", *files, "-o", folder / "p.json")
    assert document["semantics"] == "placeto"
    again = ("simulate", folder / "plain.json", placed(folder, capsys))
    assert "(order fifo, placeto)" in succeeds(capsys, *again, *semantics)
    assert "semantics" not in json_of(capsys, *again)
    moved = json_of(capsys, "place", *files, "--start", folder / "p.json", "--max-moves", 0)
    assert moved["semantics"] == "placeto"


def test_mixed_times_and_cores_are_noted(folder: Path, capsys: Capture) -> None:
    seconds = {"cpu": 0.5}
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e6, 0.0, cores=4, seconds_on=seconds), sp.Operator("b", 1e6, 0.0)],
        [sp.Stream("a", "b")],
        firing="all",
    )
    write_dataset(folder / "mixed.json", [graph])
    cluster = sp.Cluster([sp.Device("x", 1, cores=2, kind="cpu")])
    write_cluster(folder / "cpu.json", cluster)
    words = (folder / "mixed.json", "--cluster", folder / "cpu.json", *AIM)
    placing = ("place", *words, "-o", folder / "m.json")
    scoring = ("simulate", folder / "mixed.json", folder / "m.json")
    for notes in (errors_of(capsys, *placing), errors_of(capsys, *scoring)):
        assert "seconds_on: no time of 'b' on its device 'x'; instructions" in notes
        assert "cores: 'a' can use more than those of its device 'x'" in notes
    write_cluster(folder / "large.json", sp.Cluster([sp.Device("x", 1, cores=4)]))
    words = (folder / "mixed.json", "--cluster", folder / "large.json", *AIM)
    (note,) = errors_of(capsys, "place", *words).splitlines()
    assert note.startswith("seconds_on: not used, since no device has a kind, such as 'cpu'")


@pytest.mark.parametrize(
    ("slow", "kind"), [("cpu", "gpu"), ("cpu", None), ("cpu at 0.5 of its speed", "gpu")]
)
def test_times_on_some_devices_only_are_noted(
    slow: str, kind: str | None, folder: Path, capsys: Capture
) -> None:
    graph = sp.StreamGraph([sp.Operator("a", 1e6, 0.0, seconds_on={"cpu": 9.0})], [])
    write_dataset(folder / "timed.json", [graph])
    devices = [sp.Device("x", 1, kind=slow), sp.Device("fast", 1e3, kind=kind)]
    write_cluster(folder / "kinds.json", sp.Cluster(devices))
    notes = errors_of(
        capsys, "place", folder / "timed.json", "--cluster", folder / "kinds.json", *AIM
    )
    assert "seconds_on: no time of 'a' on its device 'fast'; instructions" in notes


def test_unknown_devices_have_candidates(folder: Path, capsys: Capture) -> None:
    files = (folder / "plain.json", folder / "mapping.csv")
    cluster = ("--cluster", folder / "cluster.json")
    (folder / "mapping.csv").write_text("operator,device\na,x\nb,host\n")
    line = refused(capsys, "simulate", *files, *cluster, *AIM)
    assert "the cluster has no device 'host'; known: 'x', 'y' (the cluster is" in line
    words = ("place", folder / "plain.json", *cluster, *AIM, "--without", "host")
    assert refused(capsys, *words).endswith("device or group 'host'; known: 'x', 'y'")
    rules = folder / "rules.json"
    rules.write_text(json.dumps({"pins": {"a": "host"}}))
    line = refused(capsys, *words[:-2], "--constraints", rules)
    assert "unknown device 'host'; known: 'x', 'y'" in line


def test_the_hint_is_about_infeasible_graphs_only() -> None:
    """From Python, where the cluster is an argument, the message stays as it is."""
    with pytest.raises(InfeasibleError, match=r"\(on no device\)$"):
        sp.Problem(LABELLED, objective=sp.Makespan())


@pytest.mark.parametrize(
    "options",
    [
        ("--plot", "run.png"),
        ("--model", "engine", "--plot", "run.gif"),
        ("--model", "engine", "--trace", "no-folder/trace.json"),
        ("--model", "engine", "--duration", "-1"),
        ("--model", "engine", "--service", "exponential"),
        (*AIM, "--gantt", "schedule.gif"),
    ],
    ids=" ".join,
)
def test_no_note_comes_before_the_refusal_of_an_option(
    options: tuple[str, ...], folder: Path, capsys: Capture
) -> None:
    placement = folder / "p.json"
    graph = sp.StreamGraph(PLAIN.operators, PLAIN.streams, source_rate=10)
    write_dataset(folder / "plain.json", [graph])
    succeeds(capsys, "place", folder / "plain.json", "--placer", "single", "-o", placement)
    other = sp.StreamGraph([sp.Operator("a", 1e6, 2e3), PLAIN.operators[1]], PLAIN.streams)
    write_dataset(folder / "changed.json", [other])
    command = ("simulate", folder / "changed.json", placement)
    assert "used by name" in errors_of(capsys, *command)
    refused(capsys, *command, *options)


def test_no_note_comes_before_the_refusal_of_a_pin(folder: Path, capsys: Capture) -> None:
    rules = folder / "rules.json"
    rules.write_text(json.dumps({"pins": {"a": "x"}}))
    options = ("--cluster", folder / "cluster.json", "--constraints", rules, "--source-rate", 1)
    for command in ("place", "plan"):
        moved = (command, folder / "plain.json", *options, "--pin", "a=y")
        assert "the pin of 'a' moves" in errors_of(capsys, *moved)
        assert "unknown operator" in refused(capsys, *moved, "--pin", "c=y")


def test_no_note_comes_before_the_refusal_of_a_dataset(folder: Path, capsys: Capture) -> None:
    options = ("--placers", "climb,metis", "--evaluations", 5)
    assert "--evaluations does not apply to metis" in errors_of(
        capsys, "compare", folder / "plain.json", *options, "--source-rate", 1
    )
    refused(capsys, "compare", folder / "none.json", *options)


@pytest.mark.parametrize("option", ["--source-rate", "--at"])
@pytest.mark.parametrize("rate", ["1e99", "1e-99", "-1", "nan", "1e3,inf"])
def test_a_rate_out_of_range_is_the_fault_of_its_option(
    option: str, rate: str, folder: Path, capsys: Capture
) -> None:
    line = refused(capsys, "size", folder / "plain.json", option, rate)
    assert f"{option}: must be 1e-09 to 1e+15 tuples/s" in line
    assert "plain.json" not in line


@pytest.mark.parametrize("command", ["place", "plan", "size"])
def test_the_constraints_file_is_blamed_for_constraints_only(
    command: str, folder: Path, capsys: Capture
) -> None:
    heavy = sp.StreamGraph(
        [sp.Operator("constraints", 1e6, 1.0, memory_bytes=1e12), sp.Operator("b", 1e6, 0.0)],
        [sp.Stream("constraints", "b")],
        source_rate=1.0,
    )
    write_dataset(folder / "heavy.json", [heavy])
    write_cluster(folder / "small.json", sp.Cluster([sp.Device("x", 1, memory_bytes=1e9)]))
    rules = folder / "rules.json"
    rules.write_text('{"pins": {"constraints": "x"}}')
    words = (command, folder / "heavy.json", "--constraints", rules)
    line = refused(capsys, *words, "--cluster", folder / "small.json")
    assert line.startswith(f"streamplace: {folder / 'heavy.json'}: ")
    rules.write_text('{"pins": {"nobody": "x"}}')
    line = refused(capsys, *words, "--devices", "1x1")
    assert line.startswith(f"streamplace: {rules}: constraints.pins: unknown operator")
