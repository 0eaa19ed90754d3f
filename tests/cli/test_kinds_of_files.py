"""Files of streamplace where another kind of file is expected."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Capture, refused
from tests.support.input_files import InputFiles

FILES: dict[str, Any] = {
    "jobs.json": {"format": "streamplace-jobs"},
    "scene.json": {"format": "streamplace-scene"},
    "rules.json": {"pins": {"a": "d0"}},
    "config.json": {"policy": {}, "stage": []},
    "mapping.json": {"assignment": {"a": "d0"}},
    "operators.json": {"operators": [{"name": "a", "instructions": 1}]},
    "devices.json": {"devices": [{"name": "d0", "mips": 1}]},
}
WHERE = {
    "a graph": ("place", "FILE"),
    "a cluster": ("place", "GRAPH", "--cluster", "FILE"),
    "a placement": ("explain", "FILE"),
    "a file of jobs": ("place", "--job-file", "FILE"),
    "the object that a graph has": ("place", "GRAPH", "--constraints", "FILE"),
    "a training configuration": ("train", "GRAPH", "-o", "run", "--config", "FILE"),
    "weights of a policy": ("place", "GRAPH", "--placer", "policy:file=FILE"),
}
KIND = {
    "jobs.json": "a file of jobs",
    "scene.json": "a scene",
    "rules.json": "an object of constraints",
    "config.json": "a training configuration",
    "mapping.json": "a placement",
    "operators.json": "a graph",
    "devices.json": "a cluster",
}
OWN = {("rules.json", "the object that a graph has"), ("mapping.json", "a placement")}
"""Files that are what is expected."""


@pytest.mark.parametrize("expected", WHERE)
def test_another_kind_of_file_is_named(
    expected: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    for name, value in FILES.items():
        if expected == KIND[name] or (name, expected) in OWN:
            continue
        file = tmp_path / name
        file.write_text(json.dumps(value))
        words = [
            str(inputs.graph) if word == "GRAPH" else word.replace("FILE", str(file))
            for word in WHERE[expected]
        ]
        line = refused(capsys, *words)
        assert f"{name}: is {KIND[name]}" in line
        assert f"; expected {expected}" in line


def test_a_dataset_is_not_one_json_value(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    graph = json.dumps(json.loads(inputs.graph.read_text()))
    for name in ("graphs.json", "graphs.jsonl"):
        file = tmp_path / name
        file.write_text(f"{graph}\n{graph}\n")
        line = refused(capsys, "explain", file)
        assert f"{name}: is a dataset, a graph per line; expected a single JSON value" in line
        assert "names end in .jsonl" in line
    file.write_text('{"a": 1}\n[]\n')
    assert "has a JSON value per line; expected a single one" in refused(capsys, "explain", file)


def test_task_managers_are_no_cluster(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "taskmanagers.json"
    file.write_text('{"taskmanagers": []}')
    line = refused(capsys, "place", inputs.graph, "--cluster", file)
    assert "is Flink's answer about TaskManagers; profile flink URL --cluster-out FILE" in line


def test_toml_is_not_json(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "costs.toml"
    file.write_text("# costs\nsource_rate = 1\n")
    assert "costs.toml: is TOML, not JSON; only" in refused(capsys, "place", file)


def test_an_unknown_format_is_quoted_and_cut(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps({"format": "streamplace-x\n" + "y" * 200}))
    line = refused(capsys, "place", file)
    assert "is of the format 'streamplace-x\\ny" in line
    assert "y; expected a graph" in line
    assert len(line) < 150 + len(str(file))
