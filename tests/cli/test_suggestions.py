"""Suggestions for names that do not exist."""

import json
from pathlib import Path

import click
import pytest

from benchmarks.reference.trainings import SMALL
from streamplace.cli import unknown_options
from streamplace.cli.registered import cli
from tests.support.cli import Capture, refused
from tests.support.input_files import CLUSTER, GRAPH, InputFiles

CASES = [
    (["place", "GRAPH", "--modle", "engine"], "'--model'"),
    (["place", "GRAPH", "--placer", "metsi"], "unknown placer 'metsi'; did you mean 'metis'?"),
    (["place", "GRAPH", "--placer", "METIS"], "did you mean 'metis'?"),
    (["compare", "GRAPH", "--placers", "metis,fusser"], "did you mean 'fuser'?"),
    (
        ["place", "GRAPH", "--placer", "metis:prats=3"],
        "unknown option 'prats'; did you mean 'parts'?",
    ),
    (
        ["place", "GRAPH", "--placer", "auto:second=3"],
        "unknown option 'second'; did you mean 'seconds'?",
    ),
    (["place", "GRAPH", "--placer", "policy:colour=red"], "unknown option 'colour'; choose from "),
    (["place", "GRAPH", "--placer", "metis:weights=utilization"], "did you mean 'utilisation'?"),
    (["generate", "drem", "-o", "x.jsonl"], "did you mean 'dream'?"),
    (["generate", "xyz", "-o", "x.jsonl"], "choose from series-parallel, layered, dream"),
    (["train", "GRAPH", "--config", "papper", "-o", "run"], "did you mean 'paper'?"),
    (["import", "GRAPH", "--from", "flink-plna"], "did you mean 'flink-plan'?"),
    (
        ["import", "GRAPH", "--from", "storm"],
        "did you mean 'storm-flux' or 'storm-ui' or 'storm-supervisors'?",
    ),
    (["import", "GRAPH", "--from", "adl"], "did you mean 'ibm-adl'?"),
    (["import", "GRAPH", "--from", "flik"], "did you mean 'flink-plan'?"),
    (["export", "PLACEMENT", "--to", "kubernets"], "did you mean 'kubernetes'?"),
    (["compare", "GRAPH", "--backend", "rya"], "did you mean 'ray'?"),
    (["compare", "GRAPH", "-o", "x", "--plots", "pgn"], "did you mean 'png'?"),
    (["completion", "bsh"], "did you mean 'bash'?"),
    (["info", "dataset:real/riotbench-elt.json"], "'dataset:real/riotbench-etl.json'?"),
    (["simulate", "GRAPH", "PLACEMENT", "--scheduler", "dynamc"], "did you mean 'dynamic'?"),
    (["plan", "GRAPH", "--plot", "plan.pngg"], "did you mean 'png'?"),
    (["place", "GRAPH", "CLUSTER"], "place takes one graph, and the cluster by --cluster FILE"),
    (["generate", "dream", "5", "-o", "x.jsonl"], "the number of graphs by --count N"),
    (["place", "--graph", "GRAPH"], "write its value as an argument, without --graph"),
    (["watch", "flink", "--url", "http://localhost:1"], "as an argument, without --url"),
    (
        ["place", "GRAPH", "--devices", "2x1", "--pin", "d0=a"],
        "'d0', which is a device; 'a' is the operator",
    ),
    (["place", "GRAPH", "--prefer", "balanced"], "did you mean 'balance'?"),
    (["train", "GRAPH", "-o", "run", "--config", "CLUSTER"], "expected a training config"),
    (["place", "GRAPH", "--placer", "metis,fuser"], "one placer is expected, and no comma"),
    (["compare", "GRAPH", "--placers", "metis fuser"], "; names are separated by commas"),
    (["compare", "GRAPH", "--placers", "metis;fuser"], "; names are separated by commas"),
    (["place", "GRAPH", "--placer", "metis=3"], "follow a colon, as in metis:OPTION=VALUE"),
    (["place", "GRAPH", "--placer", "p.safetensors"], "mean 'policy:file=p.safetensors'?"),
    (["place", "GRAPH", "--placer", "policy=p.safetensors"], "mean 'policy:file=p.safetensors'?"),
    (["compare", "GRAPH", "--placers", "metis", "fuser"], "and placers that commas separate"),
    (["place", "GRAPH", "--devices", "2500x3"], "written as COUNTxMIPS, such as 5x2500"),
    (["place", "GRAPH", "--target-utilisation", "80"], "did you mean 0.8?"),
    (["place", "GRAPH", "--target-utilisation", "80%"], "did you mean 0.8?"),
    (["place", "GRAPH", "--confidence", "97.5"], "did you mean 0.975?"),
    (["place", "GRAPH", "--confidence", "1.5"], "below 1 (got 1.5) (see streamplace place --help)"),
    (["place", "-", "--cluster", "-"], "streamplace: stdin: only one input can be -"),
    (["plan", "-", "--constraints", "-"], "streamplace: stdin: only one input can be -"),
    (["watch", "http://localhost:1"], "; choose from flink (see streamplace watch --help)"),
    (["info", "GRAPH", "CLUSTER"], "info takes one file"),
    (["explain", "GRAPH"], "is a graph; expected a placement, which 'streamplace place' writes"),
    (["place", "CLUSTER"], "is a cluster, which --cluster takes; expected a graph"),
    (["place", "GRAPH", "--constraints", "GRAPH"], "is a graph; expected the object that a graph"),
    (["explain", "GRAPH", "--whole-operators"], "'--whole-operators'; place and size have it"),
    (["plan", "GRAPH", "--minimise", "machines"], "unknown option '--minimise'; size has it"),
    (["study", "dream", "--seeds", "2"], "study doppler, study giph, study hsdag and others have"),
    (["study", "dream", "--sed", "2"], "unknown option '--sed'; did you mean '--seed'?"),
    (["plan", "GRAPH", "--cool-down", "5"], "unknown option '--cool-down'; watch flink has it"),
    (["info", "GRAPH", "--cluster", "CLUSTER"], "compare, place, plan and others have it"),
    (["profile", "flink", "GRAPH", "--topology", "a"], "'--topology'; profile storm has it"),
    (["place", "GRAPH", "--seeds", "1"], "unknown option '--seeds'; did you mean '--seed'?"),
    (["place", "GRAPH", "--out", "x"], "unknown option '--out'; did you mean '-o'?"),
    (["place", "GRAPH", "--rate", "1"], "unknown option '--rate'; did you mean '--source-rate'?"),
    (["place", "GRAPH", "-placer", "metis"], "unknown option '-placer'; did you mean '--placer'?"),
    (["place", "GRAPH", "-json=1"], "unknown option '-json=1'; did you mean '--json'?"),
    (["place", "GRAPH", "-p", "metis"], "unknown option '-p' (see"),
    (["place", "GRAPH", "--cluster", "5x2500"], "is no file; write --devices 5x2500"),
    (["place", "GRAPH", "--cluster", "2x5.5x4,8x1000"], "write --devices 2x5.5x4,8x1000"),
    (["place", "GRAPH", "--cluster", "5x25.json"], "5x25.json: no such file"),
    (["place", "GRAPH", "--devices", "CLUSTER"], "; --cluster takes files"),
    (["place", "GRAPH", "--pin", "a=d0,b=d1"], "'a=d0,b'; repeat --pin for each operator"),
    (["compare", "dataset:"], "dataset:: no such dataset; choose from dataset:real, "),
    (["place", "GRAPH", "--verbose"], "unknown option '--verbose' (see streamplace place --help)"),
]


@pytest.mark.parametrize(("words", "expected"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_suggestions_on_the_command_line(
    words: list[str], expected: str, inputs: InputFiles, capsys: Capture
) -> None:
    files = {"GRAPH": inputs.graph, "PLACEMENT": inputs.placement, "CLUSTER": inputs.cluster}
    assert expected in refused(capsys, *(files.get(word, word) for word in words))


def test_an_option_that_no_command_has_loads_no_other_command(
    inputs: InputFiles, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknown_options, "_commands_with", pytest.fail)
    for name in ("--zzzz", "--p"):  # others have --placer
        assert f"unknown option '{name}' (see" in refused(capsys, "place", inputs.graph, name)


def test_every_option_is_found_without_loading_its_command() -> None:
    commands = unknown_options._commands(click.Context(cli), "")
    names = {name for _, command in commands for param in command.params for name in param.opts}
    long = {name for name in names if name.startswith("--")}
    assert len(long) > 100
    assert [name for name in sorted(long) if not unknown_options._is_written(name)] == []


OPERATORS = [{"name": name, "instructions": 1} for name in ("parse", "filter", "sink")]
SLOW = {"device": "d0o", "from_s": 1, "factor": 0.5}
IN_FILES = [
    ("graph", {"opertors": []}, "unknown field 'opertors'; did you mean 'operators'?"),
    ("constraints", {"pin": {}}, "unknown field 'pin'; did you mean 'pins'?"),
    ("cluster", {"network": {"bandwidth": 1}}, "did you mean 'bandwidth_mbps'?"),
    ("cluster", {"network": {"overrides": [{"form": "d0"}]}}, "did you mean 'from'?"),
    ("graph", {"streams": [{"source": "prase", "target": "sink"}]}, "did you mean 'parse'?"),
    ("constraints", {"pins": {"fliter": "d0"}}, "did you mean 'filter'?"),
    ("constraints", {"pins": {"filter": "d00"}}, "did you mean 'd0'?"),
    ("constraints", {"constraints": {}}, "write only the object that a graph has in 'const"),
    ("constraints", {"colocate": [["parse", "sinc"]]}, "did you mean 'sink'?"),
    ("constraints", {"allowed": {"parse": ["D1"]}}, "did you mean 'd1'?"),
    ("cluster", {"network": {"overrides": [{"from": "dd0", "to": "d1"}]}}, "did you mean 'd0'?"),
]


@pytest.mark.parametrize(("kind", "change", "expected"), IN_FILES, ids=[row[2] for row in IN_FILES])
def test_suggestions_in_files(
    kind: str, change: dict[str, object], expected: str, tmp_path: Path, capsys: Capture
) -> None:
    files = {
        "graph": {"source_rate": 1, "operators": OPERATORS},
        "cluster": CLUSTER,
        "constraints": {},
    }
    files[kind] = {**files[kind], **change}
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    options = [
        "--cluster",
        tmp_path / "cluster.json",
        "--constraints",
        tmp_path / "constraints.json",
    ]
    assert expected in refused(
        capsys, "place", tmp_path / "graph.json", *options, "--placer", "single"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [({"cc": "d0"}, "did you mean 'c'?"), ({"b": "d00"}, "did you mean 'd0'?")],
)
def test_suggestions_in_placements(
    change: dict[str, str], expected: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    value = json.loads(inputs.placement.read_text())
    value["assignment"] |= change
    (tmp_path / "placement.json").write_text(json.dumps(value))
    assert expected in refused(capsys, "explain", tmp_path / "placement.json")


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        ({"windows": {"bb": {"size_s": 1, "advance_s": 1}}}, "did you mean 'b'?"),
        ({"speeds": [SLOW]}, "did you mean 'd0'?"),
    ],
)
def test_suggestions_in_scenes(
    scene: dict[str, object], expected: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    value = {"format": "streamplace-scene", "version": 1, **scene}
    (tmp_path / "scene.json").write_text(json.dumps(value))
    options = ("--model", "engine", "--scene", tmp_path / "scene.json")
    assert expected in refused(capsys, "simulate", inputs.graph, inputs.placement, *options)


@pytest.mark.parametrize(
    ("name", "known"),
    [("epoch", "epochs"), ("sampels", "samples"), ("randomsamples", "random_samples")],
)
def test_suggestions_in_configs(
    name: str, known: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(SMALL.replace("epochs = 2", f"epochs = 2\n{name} = 1"))
    words = ("train", inputs.graph, "--config", config, "-o", tmp_path / "run")
    message = f"stage[0]: unknown field {name!r}; did you mean {known!r}?"
    assert message in refused(capsys, *words)


def test_suggestions_in_sizes_of_policies(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(SMALL.replace("hops = 1", "hop = 1"))
    words = ("train", inputs.graph, "--config", config, "-o", tmp_path / "run")
    assert "did you mean 'hops'?" in refused(capsys, *words)


def test_no_suggestion_without_a_similar_name(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    graph = {**GRAPH, "streams": [{"source": "xyz", "target": "a"}]}
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    assert "mean" not in refused(capsys, "info", tmp_path / "graph.json")
