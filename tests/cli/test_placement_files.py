"""Files that one command writes and another reads."""

import csv
import json
import shlex
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from streamplace.files import read_graph
from streamplace.files.clusters import cluster_to
from streamplace.files.schema import PlacementForm
from streamplace.problem.cluster import Cluster
from tests.support.cli import Capture, json_of, refused, succeeds, write_starter
from tests.support.input_files import InputFiles


def test_a_placement_file_contains_the_whole_problem(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """`simulate` repeats the score of `place` without cluster, rate and model options."""
    placement = tmp_path / "placement.json"
    problem = ["--cluster", inputs.cluster, "--source-rate", "5e6", "--model", "path-average"]
    placed = json_of(capsys, "place", inputs.graph, *problem, "-o", placement)
    again = json_of(capsys, "simulate", inputs.graph, placement)
    assert again == {key: placed[key] for key in again}
    assert again["relative_throughput"] < 1


def test_simulate_uses_the_graph_in_the_placement(inputs: InputFiles, capsys: Capture) -> None:
    options = ("--devices", "4x1", "--source-rate", "1e4")
    for changes in ((), options):
        alone = json_of(capsys, "simulate", inputs.placement, *changes)
        assert alone == json_of(capsys, "simulate", inputs.graph, inputs.placement, *changes)
    assert "holds no graph" in refused(capsys, "simulate", inputs.cepsim)
    line = refused(capsys, "simulate", inputs.graph, inputs.placement, "third.json")
    assert "unexpected argument 'third.json' after PLACEMENT" in line


def test_options_of_simulate_override_the_file(inputs: InputFiles, capsys: Capture) -> None:
    own = json_of(capsys, "simulate", inputs.graph, inputs.placement)
    options = ["--devices", "4x1", "--source-rate", "1e4", "--model", "path-average"]
    other = json_of(capsys, "simulate", inputs.graph, inputs.placement, *options)
    assert own["relative_throughput"] == 1.0
    assert other["relative_throughput"] < 1.0
    assert other["model"] == "path-average"
    assert len(other["devices"]) == 4


def test_both_files_are_named_if_the_graphs_differ(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "other.json"
    other.write_text(Path(inputs.graph).read_text().replace('"c"', '"other"'))
    message = refused(capsys, "simulate", other, inputs.placement)
    assert "is a placement of another graph" in message
    assert str(inputs.placement) in message
    assert str(other) in message


def test_a_placement_file_stores_the_target_utilisation(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Three operators need 6 MIPS; `simulate` can override the target utilisation."""
    placement = tmp_path / "placement.json"
    command = ["place", inputs.graph, "--devices", "2x4", "-o", placement]
    assert json_of(capsys, *command)["relative_throughput"] == 1.0
    assert "target_utilisation" not in placement.read_text()
    placed = json_of(capsys, *command, "--target-utilisation", "0.6")
    assert placed["relative_throughput"] == pytest.approx(2.4 / 3)
    assert placed["bottleneck"]["utilisation"] == pytest.approx(0.75)
    assert json.loads(placement.read_text())["problem"]["target_utilisation"] == 0.6
    again = ["simulate", inputs.graph, placement]
    assert json_of(capsys, *again) == {key: placed[key] for key in json_of(capsys, *again)}
    assert "80.0% of 1,000 (bottleneck, at most 0.6 of any" in succeeds(capsys, *again)
    assert json_of(capsys, *again, "--target-utilisation", "1")["relative_throughput"] == 1.0
    engine = json_of(capsys, *again, "--model", "engine")
    assert engine["relative_throughput"] == pytest.approx(0.8, rel=1e-3)
    assert engine["bottleneck"]["utilisation"] == pytest.approx(0.6)
    assert json_of(capsys, "info", placement)["target_utilisation"] == 0.6
    compare = ["compare", inputs.graph, "--devices", "2x4", "--placers", "single", "--jobs", "1"]
    assert json_of(capsys, *compare)["rows"][0]["mean"] == pytest.approx(2 / 3)
    half = json_of(capsys, *compare, "--target-utilisation", "0.5")
    assert half["rows"][0]["mean"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("model", ["bottleneck", "path-average", "engine"])
def test_a_placement_file_stores_several_source_rates(
    model: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """The score is the one at the worst rate, here the highest; one rate can be selected."""
    placement = tmp_path / "placement.json"
    options = ["--devices", "2x2", "--model", model, "--source-rate", "500,2e3,1e3"]
    placed = json_of(capsys, "place", inputs.graph, *options, "-o", placement)
    assert placed["relative_throughput"] == pytest.approx(1 / 3, rel=1e-3)
    assert placed["throughput"] == pytest.approx(2000 / 3, rel=1e-3)
    problem = json.loads(placement.read_text())["problem"]
    assert (problem["source_rate"], problem["source_rates"]) == (2000.0, [2000.0, 1000.0, 500.0])
    again = ["simulate", inputs.graph, placement]
    assert json_of(capsys, *again) == {key: placed[key] for key in json_of(capsys, *again)}
    assert "of 2,000, the worst of 3 rates" in succeeds(capsys, *again)
    slower = json_of(capsys, *again, "--source-rate", "600")
    assert slower["throughput"] == pytest.approx(600.0)
    two = json_of(capsys, *again, "--source-rate", "600,1500")
    assert two["throughput"] == pytest.approx(2000 / 3, rel=1e-3)


def test_a_trace_is_recorded_at_the_worst_rate(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    trace = tmp_path / "trace.json"
    rates = ["--source-rate", "100,1e4", "--devices", "5x1", "--model", "engine"]
    command = ["simulate", inputs.graph, inputs.placement, *rates, "--trace", trace]
    assert json_of(capsys, *command)["relative_throughput"] == pytest.approx(1 / 30, rel=1e-3)
    assert json.loads(trace.read_text())["sources"][0]["offered_rate"][0] == pytest.approx(1e4)


def test_a_cluster_without_a_device_of_the_placement_is_refused(
    inputs: InputFiles, capsys: Capture
) -> None:
    line = refused(capsys, "simulate", inputs.graph, inputs.placement, "--devices", "2x2500")
    assert "placement.json: assignment['c']: the cluster has no device 'd2'" in line


def test_both_files_are_named_if_the_cluster_does_not_fit(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Either of the two files may be the wrong one."""
    cluster, cepsim = tmp_path / "small.json", tmp_path / "cepsim.json"
    cluster.write_text(json.dumps(cluster_to(Cluster.equal(1))))
    succeeds(capsys, "export", inputs.placement, "--to", "cepsim", "-o", cepsim)
    for placement in (inputs.placement, cepsim):
        line = refused(capsys, "simulate", inputs.graph, placement, "--cluster", cluster)
        assert placement.name in line
        assert "the cluster has no device" in line
        assert f"(the cluster is {cluster})" in line


def test_a_placement_file_contains_its_score(inputs: InputFiles) -> None:
    value = json.loads(inputs.placement.read_text())
    form = PlacementForm.model_validate(value)
    assert form.placer == "round-robin"
    assert form.bound == 1000.0
    assert form.gap == 0.0
    assert value["score"]["throughput"] == 1000.0
    assert form.problem.graph_sha256 == read_graph(inputs.graph).sha256


def test_export_csv(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    text = succeeds(capsys, "export", inputs.placement, "--to", "csv")
    assert text == "operator,device\na,d0\nb,d1\nc,d2\n"
    succeeds(capsys, "export", inputs.placement, "--to", "csv", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == text


def test_export_cepsim_and_back(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "cepsim.json"
    succeeds(capsys, "export", inputs.placement, "--to", "cepsim", "-o", file)
    assert json.loads(file.read_text()) == {
        "placements": [{"idx": d, "ops": [d]} for d in range(3)]
    }
    own, cepsim = (json_of(capsys, "simulate", inputs.graph, p) for p in (inputs.placement, file))
    assert own == cepsim


def test_export_json_keeps_the_score(inputs: InputFiles, capsys: Capture) -> None:
    """An export to JSON contains everything in the file."""
    exported = json.loads(succeeds(capsys, "export", inputs.placement, "--to", "json"))
    assert exported == json.loads(inputs.placement.read_text())


def test_export_of_a_cepsim_placement_needs_a_graph(inputs: InputFiles, capsys: Capture) -> None:
    assert "cepsim.json" in refused(capsys, "export", inputs.cepsim, "--to", "csv")


def test_diff_of_different_jobs_names_a_file(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "other.json"
    succeeds(capsys, "place", "dataset:real/riotbench-etl.json", "--placer", "single", "-o", other)
    assert "other.json" in refused(capsys, "diff", inputs.placement, other)


def test_compare_saves_its_tables(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "new" / "folder"
    command = ["compare", inputs.graph, "--placers", "single,metis", "--jobs", "1", "-o", folder]
    found = json_of(capsys, *command)
    assert json.loads((folder / "compare.json").read_text()) == found
    with (folder / "table.csv").open(newline="") as file:
        assert [row["placer"] for row in csv.DictReader(file)] == ["single", "metis"]
    with (folder / "graphs.csv").open(newline="") as file:
        assert [row["graph"] for row in csv.DictReader(file)] == ["line", "line"]
    made_by = json.loads((folder / "command.json").read_text())
    arguments = [str(word) for word in command]
    assert shlex.split(made_by.pop("command")) == ["streamplace", *arguments, "--json"]
    assert made_by == {"streamplace": version("streamplace"), "seed": 0}
    tables = {"compare.json", "table.csv", "graphs.csv", "table.md", "table.tex"}
    tables.add("command.json")
    pictures = {"differences.png", "throughput.png", "devices.png"}
    assert {path.name for path in folder.iterdir()} == tables | pictures


@pytest.mark.skipif(sys.platform != "linux", reason="file names are any bytes")
def test_names_of_files_may_be_any_bytes(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    graph, placement, folder = tmp_path / "g\udcff.json", tmp_path / "p.json", tmp_path / "out"
    shutil.copy(inputs.graph, graph)
    succeeds(capsys, "place", graph, "--placer", "single", "-o", placement)
    assert json_of(capsys, "explain", placement)
    succeeds(capsys, "compare", graph, "--placers", "single", "--plots", "none", "-o", folder)
    assert str(graph) in json.loads((folder / "command.json").read_text())["command"]


@pytest.mark.parametrize("fault", ["constraints", "source_rate", "load"])
def test_compare_names_the_faulty_graph(fault: str, tmp_path: Path, capsys: Capture) -> None:
    """In a dataset of thousands, the message must name the graph."""
    good = {"source_rate": 1.0, "operators": [{"name": "a", "instructions": 1.0}]}
    bad: dict[str, Any] = {
        "constraints": {**good, "constraints": {"pins": {"a": "d9"}}},
        "source_rate": {"operators": good["operators"]},
        "load": {**good, "operators": [{"name": "a", "instructions": 1e308}], "source_rate": 1e9},
    }[fault]
    file = tmp_path / "x.jsonl"
    lines = [{**good, "name": "fine"}, {**bad, "name": "the-bad-one"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    line = refused(capsys, "compare", file, "--placers", "single", "--jobs", "1")
    assert "the-bad-one" in line


FIGURES = ("bound_s", "gap")


@pytest.fixture
def folder(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the starter files and a placement that is proven."""
    monkeypatch.chdir(tmp_path)
    write_starter(capsys, tmp_path)
    aim = ("--objective", "makespan", "--cluster", "cluster.json")
    succeeds(capsys, "place", "graph.json", *aim, "-o", "p.json")
    return tmp_path


def figures(capsys: Capture, *words: object) -> tuple[float, float]:
    """Return the bound in seconds and the gap that a command prints."""
    bound, gap = map(json_of(capsys, *words).get, FIGURES)
    return bound, gap


def stored(folder: Path, **changes: Any) -> Path:
    """Store the placement with other fields in another file."""
    value = json.loads((folder / "p.json").read_text())
    (folder / "changed.json").write_text(json.dumps({**value, **changes}))
    return folder / "changed.json"


@pytest.mark.parametrize("words", [["explain"], ["simulate", "graph.json"]])
def test_the_proven_bound_of_the_file_is_used(
    words: list[str], folder: Path, capsys: Capture
) -> None:
    proven = json.loads((folder / "p.json").read_text())["bound"]
    assert figures(capsys, *words, "p.json") == (proven, 0.0)
    loose, gap = figures(capsys, *words, stored(folder, bound=None))
    assert loose < proven
    assert gap > 0.1
    assert figures(capsys, *words, stored(folder, bound=loose / 2)) == (loose, gap)
    assert figures(capsys, *words, stored(folder, bound=2 * proven)) == (loose, gap)
    between = (loose + proven) / 2
    assert figures(capsys, *words, stored(folder, bound=between))[0] == between


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "{}", "--batch", "2"],
        ["explain", "{}", "--order", "b-level"],
        ["explain", "{}", "--slow", "gpu1=0.999"],
        ["explain", "{}", "--constraints", "rules.json"],
        ["explain", "{}", "--semantics", "giph"],
        ["simulate", "graph.json", "{}", "--no-barrier", "--batch", "2"],
        ["simulate", "graph.json", "{}", "--cluster", "other.json"],
        ["simulate", "other-graph.json", "{}"],
    ],
    ids=lambda words: " ".join(words[2:]),
)
def test_the_bound_of_another_problem_is_not_used(
    words: list[str], folder: Path, capsys: Capture
) -> None:
    (folder / "rules.json").write_text(json.dumps({"pins": {"clicks": "rack1"}}))
    value = json.loads((folder / "p.json").read_text())
    graph, cluster = value["problem"]["graph"], value["problem"]["cluster"]
    cluster["devices"][0]["mips"] *= 0.999
    (folder / "other.json").write_text(json.dumps(cluster))
    graph["operators"][0]["instructions"] *= 1.001
    (folder / "other-graph.json").write_text(json.dumps(graph))
    without = stored(folder, bound=None)
    expected, changed = ([word.format(file) for word in words] for file in (without, "p.json"))
    assert figures(capsys, *changed) == figures(capsys, *expected)
