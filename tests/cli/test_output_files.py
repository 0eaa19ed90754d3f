"""Output files: no command overwrites its inputs or writes where another process writes."""

import json
import os
import shutil
from pathlib import Path

import pytest

from streamplace.files.datasets import resolve
from streamplace.files.writing import held
from tests.support.cli import Capture, refused, run, succeeds
from tests.support.input_files import CLUSTER, GRAPH, InputFiles

FLINK = ["profile", "flink", "http://127.0.0.1:9", "--job", "x", "--mips", "1"]
RATE = ["--source-rate", "1e3"]
DEVICES = [{"name": f"d{i}", "mips": 2500.0} for i in range(5)]  # those of the placement
ENGINE = ["simulate", "graph", "placement", "--model", "engine"]
ENGINE += ["--cluster", "cluster", "--scene", "scene"]


@pytest.fixture
def files(inputs: InputFiles, tmp_path: Path) -> Path:
    """Return a folder with a file of each kind, all named like pictures."""
    for name, text in {
        "graph": json.dumps(GRAPH),
        "cluster": json.dumps({**CLUSTER, "devices": DEVICES}),
        "constraints": "{}",
        "scene": "{}",
        "placement": inputs.placement.read_text(),
        "weights": "no weights",
        "costs": "source_rate = 1.0",
    }.items():
        (tmp_path / f"{name}.svg").write_text(text)
    return tmp_path


WRITERS = [  # a command up to its output option, and the input that it would overwrite
    (["place", "graph", "-o"], "graph"),
    (["place", "graph", "--cluster", "cluster", "-o"], "cluster"),
    (["place", "graph", "--constraints", "constraints", "-o"], "constraints"),
    (["place", "graph", "--placer", "policy:file=weights", "-o"], "weights"),
    (["place", "graph", "--placer", "policy:samples=4:file=weights", "-o"], "weights"),
    (["export", "placement", "--to", "csv", "-o"], "placement"),
    (["import", "graph", "--from", "dream", "-o"], "graph"),
    (["import", "graph", "--from", "dream", "--costs", "costs", "-o"], "costs"),
    (["plan", "graph", "--plot"], "graph"),
    (["plan", "graph", "--cluster", "cluster", "--plot"], "cluster"),
    (["plan", "graph", "--constraints", "constraints", "--plot"], "constraints"),
    (["report", "placement", "-o"], "placement"),
    *(
        ([*ENGINE, option], read)
        for option in ("--trace", "--plot")
        for read in ("graph", "placement", "cluster", "scene")
    ),
    (["profile", "storm", "graph", "--mips", "1", "-o"], "graph"),
    (["profile", "storm", "graph", "--mips", "1", "--costs", "costs", "-o"], "costs"),
    ([*FLINK, "--costs", "costs", "-o"], "costs"),
    ([*FLINK, "--costs", "costs", "--placement"], "costs"),
]


@pytest.mark.parametrize(("words", "overwritten"), WRITERS, ids=[" ".join(w) for w, _ in WRITERS])
@pytest.mark.parametrize("name_by", ["name", "link", "hard link", "folder"])
def test_an_input_is_not_overwritten(
    words: list[str], overwritten: str, name_by: str, files: Path, capsys: Capture
) -> None:
    paths = {path.stem: path for path in files.iterdir()}
    before = {path: path.read_bytes() for path in paths.values()}
    target = paths[overwritten]
    if name_by == "link":
        target = files / "link.svg"
        target.symlink_to(paths[overwritten])
    elif name_by == "hard link":
        target = files / "link.svg"
        target.hardlink_to(paths[overwritten])
    elif name_by == "folder":
        (files / "folder").symlink_to(files)
        target = files / "folder" / paths[overwritten].name
    arguments = [word.replace("weights", str(paths["weights"])) for word in words]
    message = refused(capsys, *(paths.get(word, word) for word in arguments), target)
    assert f"{words[-1]} {target}: would overwrite the input {paths[overwritten]}" in message
    assert {path: path.read_bytes() for path in before} == before


def test_stdin_is_not_overwritten(files: Path) -> None:
    graph = files / "graph.svg"
    with graph.open() as file:
        done = run("place", "-", "-o", graph, stdin=file)
    assert (done.returncode, done.stdout) == (2, "")
    assert "would overwrite the input stdin" in done.stderr
    assert json.loads(graph.read_text()) == GRAPH


def test_a_graph_in_a_folder_is_not_overwritten(files: Path, capsys: Capture) -> None:
    (files / "graphs").mkdir()
    graph = shutil.copy(files / "graph.svg", files / "graphs" / "a.json")
    assert "would overwrite the input" in refused(capsys, "place", files / "graphs", "-o", graph)
    assert json.loads(Path(graph).read_text()) == GRAPH


def test_a_shipped_graph_is_not_overwritten(capsys: Capture) -> None:
    shipped = resolve("dataset:real/riotbench-etl.json")
    before = shipped.read_bytes()
    words = ["place", "dataset:real/riotbench-etl.json", *RATE, "-o", shipped]
    assert "would overwrite the input" in refused(capsys, *words)
    assert shipped.read_bytes() == before


def test_a_placement_may_replace_the_initial_one(files: Path, capsys: Capture) -> None:
    placement = files / "placement.svg"
    succeeds(capsys, "place", files / "graph.svg", "--start", placement, "-o", placement)
    assert json.loads(placement.read_text())["format"] == "streamplace-placement"


def test_two_outputs_need_two_files(files: Path, capsys: Capture) -> None:
    arguments = ["-o", files / "x.json", "--placement", files / "." / "x.json"]
    assert "-o and --placement name the same file" in refused(capsys, *FLINK, *arguments)


@pytest.mark.parametrize("name", ["compare.json", "graphs.csv", "table.tex", "devices.pdf"])
def test_compare_does_not_overwrite_its_input(name: str, files: Path, capsys: Capture) -> None:
    (files / "results").mkdir()
    dataset = files / "results" / name
    dataset.write_text(json.dumps(GRAPH))
    words = ["compare", dataset, "--placers", "single", "--plots", "pdf", "-o"]
    assert "would overwrite the input" in refused(capsys, *words, files / "results")
    assert [path.name for path in (files / "results").iterdir()] == [name]


@pytest.mark.parametrize("words", [["compare", "DATA"], ["train", "DATA", "--config", "best"]])
def test_results_are_not_written_into_a_folder_of_graphs(
    words: list[str], files: Path, capsys: Capture
) -> None:
    """Results in a folder of graphs would be read as graphs the next time."""
    data = files / "data"
    data.mkdir()
    (data / "a.json").write_text(json.dumps(GRAPH))
    arguments = [data if word == "DATA" else word for word in words]
    assert "is an input folder" in refused(capsys, *arguments, "-o", data)
    assert [path.name for path in data.iterdir()] == ["a.json"]


def test_training_does_not_overwrite_its_dataset(files: Path, capsys: Capture) -> None:
    """A dataset named like the log would lose every line that is not a step."""
    (files / "run").mkdir()
    dataset = files / "run" / "log.jsonl"
    dataset.write_text(json.dumps(GRAPH) + "\n")
    words = ["train", dataset, "--config", "best", "-o", files / "run"]
    assert "would overwrite the input" in refused(capsys, *words)
    assert json.loads(dataset.read_text()) == GRAPH


@pytest.mark.long
def test_a_folder_that_another_process_uses(files: Path) -> None:
    results = files / "results"
    words = ("compare", files / "graph.json", "--placers", "single", "-o", results)
    shutil.copy(files / "graph.svg", files / "graph.json")
    with held(results):
        done = run(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{results}: another run of streamplace is writing into this folder" in done.stderr
        assert os.listdir(results) == []
    assert not results.exists()
    assert run(*words).returncode == 0


def test_outputs_are_checked_before_the_work(files: Path, capsys: Capture) -> None:
    """The target is checked before the graph is read."""
    for words in (["place", "no.json"], ["import", "no.json", "--from", "dream"]):
        assert "no such folder" in refused(capsys, *words, "-o", files / "nowhere" / "x.json")


def test_job_names_that_file_names_cannot_have_here_are_refused(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.json"
    jobs.write_text(json.dumps({"jobs": [{"name": "größe", "graph": GRAPH}]}), encoding="utf-8")
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command in (("place", "--placer", "single"), ("size",)):
        done = run(*command, "--job-file", jobs, "-o", tmp_path / "out", env=ascii_only)
        assert done.returncode == 2
        assert "encoding of file names here, ascii, lacks characters of 'gr\\xf6" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "remedy"), [("p.NPZ", "in small letters"), ("p.html", "report"), ("p.HTM", "report")]
)
def test_names_of_other_files_are_refused(
    name: str, remedy: str, tmp_path: Path, capsys: Capture
) -> None:
    words = ("place", "dataset:real/riotbench-etl.json", "-o", tmp_path / name)
    assert remedy in refused(capsys, *words)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("command", ["place", "size", "plan", "export"])
def test_placements_are_not_written_as_csv(command: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.csv"
    options = ("--to", "json") if command == "export" else ()
    line = refused(capsys, command, "dataset:real/riotbench-etl.json", *options, "-o", file)
    assert "a placement file is JSON or .npz; 'streamplace export --to csv' writes CSV" in line
    assert not file.exists()


@pytest.mark.parametrize(
    "words",
    [
        [*FLINK, "-o"],
        ["profile", "torch", "nowhere:Net", "-o"],
        ["import", "nowhere.json", "--from", "dream", "-o"],
        ["size", "nowhere.json", "--graph-out"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_the_name_of_a_graph_is_checked_before_the_work(
    words: list[str], tmp_path: Path, capsys: Capture
) -> None:
    assert "x.txt: must end in .jsonl, " in refused(capsys, *words, tmp_path / "x.txt")
