"""Tests for the study of Ni et al. (AAAI 2020) and its graphs, which are read once per process."""

import csv
import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from streamplace.errors import FormatError
from streamplace.families import Recipe
from streamplace.files import write_dataset
from streamplace.files.training_logs import POLICY
from streamplace.papers.ni2020.study import study
from streamplace.papers.ni2020.study.outcome import placers, weight_files
from streamplace.papers.ni2020.study.study import (
    MODELS,
    SOURCE_RATES,
    DreamStudy,
    generated,
    stored,
)
from streamplace.papers.studies.study import Plan
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.workflows.compare import compare
from tests.support.cli import Capture, json_of, refused

GRAPHS = 3


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "graphs.jsonl"
    recipe = Recipe("dream", GRAPHS, seed=7)
    write_dataset(path, map(recipe.graph, range(GRAPHS)))
    return path


@pytest.mark.long
def test_figures_are_those_of_compare(dataset: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("study", "dream", "--graphs", dataset, "-o", tmp_path, "--jobs", 1)
    found = json_of(capsys, *arguments)
    graphs = list(map(Recipe("dream", GRAPHS, seed=7).graph, range(GRAPHS)))
    tables = {table["name"]: table for table in found["tables"]}
    for model in MODELS:
        table = tables[model]
        placers = ["metis", "metis-recursive-oracle"]
        expected = compare(graphs, placers, SOURCE_RATES, model=model, jobs=1)
        rows = {name: cells for name, *cells in table["rows"]}
        for j, name in enumerate(["METIS", "METIS recursive oracle"]):
            means = expected.values[:, j].mean(axis=1)
            np.testing.assert_allclose(rows[name][0], means, rtol=1e-12)
            smallest = expected.values[:, j].min(axis=1)
            np.testing.assert_allclose(rows[name][5], smallest, rtol=1e-12)
        assert ("METIS, k = 5, published" in rows) == (model == "path-average")
    with (tmp_path / "bottleneck.csv").open() as file:
        head = next(csv.reader(file))
    assert head[1:3] == ["mean, 10000 tuples/s", "mean, 20000 tuples/s"]
    for name in ("throughput-bottleneck.png", "devices-path-average.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert json_of(capsys, *arguments) == found  # from the folder


def test_missing_weights_are_named(dataset: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    for name in ("b", "b-f1"):
        (folder / f"{name}.safetensors").write_bytes(b"")
    arguments = ("study", "dream", "--graphs", dataset, "-o", tmp_path / "s", "--weights", folder)
    line = refused(capsys, *arguments)
    assert "has no b-f1-f2.safetensors" in line
    assert "train them with the config b-f1-f2" in line
    assert not (tmp_path / "s").exists()


def test_weights_of_another_run_are_another_plan(tmp_path: Path) -> None:
    for name in ("b", "b-f1", "b-f1-f2"):
        (tmp_path / f"{name}.safetensors").write_bytes(name.encode())
    settings = DreamStudy(weights=str(tmp_path), quick=True).plan().settings
    assert set(settings["weights_sha256"]) == {"B", "B+F1", "B+F1&F2"}
    assert settings["weights_sha256"]["B"] == sha256(b"b").hexdigest()[:16]
    assert settings["systems"].index("B") < settings["systems"].index("policy, one pass")
    assert DreamStudy(quick=True).plan().settings["weights_sha256"] == {}


def test_runs_are_weights_too(tmp_path: Path) -> None:
    for name in ("b", "b-f1", "b-f1-f2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / POLICY).write_bytes(name.encode())
    (tmp_path / "b-f1.safetensors").write_bytes(b"shipped")
    found = weight_files(tmp_path)
    names = [str(file.relative_to(tmp_path)) for file in found.values()]
    assert names == ["b/policy.safetensors", "b-f1.safetensors", "b-f1-f2/policy.safetensors"]
    assert placers(tmp_path)["B"] == f"policy:file={tmp_path / 'b' / POLICY}"


def test_generated_graphs_are_called_so() -> None:
    row = {"graph": 0, "system": "METIS", "relative_throughput": [1.0, 0.5], "devices": [5, 5]}
    rows = [{"model": model, **row} for model in MODELS]
    plan = Plan({"source_rates": SOURCE_RATES, "systems": ["METIS"], "models": MODELS}, ())
    note = "The 40 graphs are generated; --graphs places the released ones."
    assert note in DreamStudy(quick=True).outcome(plan, rows).findings
    assert note not in DreamStudy(graphs="released").outcome(plan, rows).findings


def graphs_hash(study: DreamStudy) -> str:
    """Return the hash of the graphs in a study's plan."""
    return str(study.plan().settings["graphs_sha256"])


def test_graphs_without_constraints_keep_the_hash_of_committed_plans(dataset: Path) -> None:
    hashes = "".join(Recipe("dream", GRAPHS, seed=7).graph(n).sha256 for n in range(GRAPHS))
    expected = sha256(hashes.encode()).hexdigest()[:16]
    assert graphs_hash(DreamStudy(graphs=str(dataset))) == expected


def test_other_constraints_are_another_plan(tmp_path: Path) -> None:
    graph, path = Recipe("dream", 1, seed=7).graph(0), tmp_path / "graph.jsonl"
    pair = graph.names[:2]
    hashes = []
    for rules in (
        None,
        Constraints(),
        Constraints(pins={pair[0]: "d0"}),
        Constraints(pins={pair[0]: "d1"}),
        Constraints(exlocate=[pair]),
    ):
        write_dataset(path, [StreamGraph(graph.operators, graph.streams, constraints=rules)])
        hashes.append(graphs_hash(DreamStudy(graphs=str(path))))
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4


def test_quick_needs_no_graphs(tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, "study", "dream", "--quick", "--graphs", "x.jsonl", "-o", tmp_path)
    assert "cannot combine --graphs with --quick" in line


def test_a_dataset_is_read_again_only_if_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    write_dataset(path, generated(3, 1, range(3)))
    first = stored(str(path))
    assert stored(str(path)) is first
    write_dataset(path, generated(2, 5, range(2)))
    again = stored(str(path))
    assert [graph.sha256 for graph in again] == [g.sha256 for g in generated(2, 5, range(2))]


def test_a_file_that_is_added_to_a_folder_is_read(tmp_path: Path) -> None:
    write_dataset(tmp_path / "a.jsonl", generated(2, 1, range(2)))
    assert len(stored(str(tmp_path))) == 2
    write_dataset(tmp_path / "b.jsonl", generated(1, 2, range(1)))
    assert len(stored(str(tmp_path))) == 3


def test_generated_graphs_are_those_of_the_family() -> None:
    recipe = Recipe("dream", 5, seed=3)
    found = generated(5, 3, range(3, 9))
    assert [graph.sha256 for graph in found] == [recipe.graph(n).sha256 for n in (3, 4)]
    assert generated(5, 3, range(7, 9)) == []


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"^stdin: {study.ONCE}$"):
        stored("-")
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match=r"pipe\.jsonl: must be a file or a folder"):
        stored(str(pipe))
