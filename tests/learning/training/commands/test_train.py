"""The command `train`: output, files and errors."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

import streamplace as sp
from benchmarks.reference.trainings import SMALL, config, graphs, of_kind, opened
from streamplace.cli.main import main
from streamplace.errors import FormatError
from streamplace.files import write_cluster, write_clusters, write_dataset
from streamplace.files.training_logs import CHECKPOINT, POLICY
from streamplace.learning.policy.weights import new_policy, pack_policy
from streamplace.learning.training import read_config, train
from streamplace.learning.training.config import with_values
from tests.support.cli import (
    CPU_ENVIRONMENT,
    MODULE,
    Capture,
    json_of,
    one_line,
    refused,
    succeeds,
)
from tests.support.training_runs import check_finite, log_of

CURVES = "curves.png"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a dataset and a config."""
    folder = tmp_path_factory.mktemp("files")
    write_dataset(folder / "graphs.jsonl", graphs())
    (folder / "short.toml").write_text(SMALL)
    return folder


def command(files: Path, folder: Path, *more: str) -> list[str]:
    """Return a training command."""
    words = [files / "graphs.jsonl", "--config", files / "short.toml", "-o", folder, *more]
    return ["train", *map(str, words)]


def test_output_as_json(files: Path, tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    found: Any = json_of(capsys, *command(files, run))
    _, words = opened(run / POLICY)
    card = json.loads(words["card"])
    assert found == {
        "steps": 6,
        "epochs": 2,
        "parameter_hash": card["parameter_hash"],
        "policy": str(run / POLICY),
        "interrupted": False,
    }
    assert card["dataset"] == str(files / "graphs.jsonl")
    assert json.loads((run / "config.json").read_text()) == card["config"]
    check_finite(run)
    assert (run / CURVES).read_bytes().startswith(b"\x89PNG")
    again = json_of(capsys, *command(files, run, "--resume"))
    assert again == found


def test_progress_goes_only_to_stderr(files: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(command(files, tmp_path / "run")) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert str(tmp_path / "run" / POLICY) in out
    assert "6 steps" in out
    validations = [line for line in err.splitlines() if "validation" in line]
    assert len(validations) == 2, "a line per epoch"
    for epoch, line in enumerate(validations):
        assert f"epoch {epoch + 1} of 2 " in line
        assert f"step {3 * epoch + 3} " in line


def test_graphs_that_no_device_of_the_config_may_run(tmp_path: Path, capsys: Capture) -> None:
    """GiPH's tasks require types, which only the networks made with them have."""
    recipe = sp.Recipe("giph-code", 1)
    write_dataset(tmp_path / "tasks.jsonl", [recipe.graph(0)])
    message = refused(
        capsys, "train", tmp_path / "tasks.jsonl", "--config", "giph", "-o", tmp_path / "run"
    )
    assert "no device may run operator" in message
    assert "the devices are those of --config: set --cluster FILE" in message


def test_graphs_with_clusters_of_their_own(files: Path, tmp_path: Path, capsys: Capture) -> None:
    clusters = [sp.Cluster.parse(f"{2 + i % 2}x{1500 + i}") for i in range(len(graphs()))]
    write_clusters(tmp_path / "clusters.jsonl", clusters)
    more = ["--clusters", str(tmp_path / "clusters.jsonl")]
    succeeds(capsys, *command(files, tmp_path / "run", "-q", *more))
    assert log_of(tmp_path / "run")
    write_clusters(tmp_path / "few.jsonl", clusters[:2])
    few = ["--clusters", str(tmp_path / "few.jsonl")]
    error = refused(capsys, *command(files, tmp_path / "other", *few))
    assert "few.jsonl: expected" in error
    assert "one per graph (got 2)" in error
    assert not (tmp_path / "other").exists()


def test_one_cluster_for_all_graphs_and_times_that_it_lacks(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    seconds = {"cpu": 2e-3, "gpu": 1e-3}
    timed = [
        sp.StreamGraph(
            [sp.Operator("a", 1e6, 1.0, seconds_on=seconds), sp.Operator("b", 1e6, 0.0)],
            [("a", "b")],
            source_rate=10,
            name=f"graph{number}",
        )
        for number in range(3)
    ]
    write_dataset(tmp_path / "timed.jsonl", timed)
    words = ["train", tmp_path / "timed.jsonl", "--config", files / "short.toml", "-o"]
    unused = "seconds_on: training has no device of kind 'cpu', 'gpu' (3x2500 or 1x4000,2x1500, "
    assert main([*map(str, words), str(tmp_path / "of_config")]) == 0
    assert unused + "those of --config; --cluster sets others)\n" in capsys.readouterr().err
    devices = [sp.Device("x", 1, kind="cpu"), sp.Device("y", 1, kind="gpu at 0.5 of its speed")]
    write_cluster(tmp_path / "own.json", sp.Cluster(devices))
    own = ["--cluster", str(tmp_path / "own.json")]
    assert main([*map(str, words), str(tmp_path / "own"), *own]) == 0
    assert "seconds_on" not in capsys.readouterr().err
    both = refused(capsys, *words, tmp_path / "both", *own, "--clusters", tmp_path / "own.json")
    assert both.startswith("streamplace: cannot combine --cluster with --clusters")


def test_quiet_training_prints_only_the_result(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(command(files, tmp_path / "run", "--quiet")) == 0
    out, err = capsys.readouterr()
    assert "6 steps" in out
    assert err == ""


def test_a_failed_plot_does_not_fail_the_run(files: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "run" / CURVES).mkdir(parents=True)
    assert main(command(files, tmp_path / "run", "--json")) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["steps"] == 6
    assert "streamplace: cannot draw the curves: " in err
    assert CURVES in err


def test_a_trained_policy_can_place(files: Path, tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, *command(files, tmp_path / "run"))
    placer = f"policy:file={tmp_path / 'run' / POLICY}"
    graph = tmp_path / "graph.jsonl"
    write_dataset(graph, graphs()[:1])
    for more in ("", ":samples=4"):
        output = succeeds(capsys, "place", graph, "--placer", placer + more, "--json")
        found = json.loads(output)
        assert set(found["assignment"]) == set(graphs()[0].names)
        assert 0 < found["throughput"] <= found["bound"]
        assert found["placer"] == placer + more
        assert output.count("seconds") == 1


def test_the_seed_of_the_config_is_the_default(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    def trained(name: str, *more: str) -> Any:
        output = succeeds(capsys, *command(files, tmp_path / name, "--json", *more))
        return json.loads(output)["parameter_hash"]

    by_default = trained("a")
    assert trained("b", "--seed", "0") == by_default
    assert trained("c", "--seed", "7") != by_default
    assert json.loads((tmp_path / "c" / "config.json").read_text())["run"]["seed"] == 7
    assert "another" in refused(capsys, *command(files, tmp_path / "c", "--resume"))
    succeeds(capsys, *command(files, tmp_path / "c", "--resume", "--seed", "7"))


USAGE = [
    (["train"], "DATASET"),
    (["train", "GRAPHS", "-o", "OUT"], "--config"),
    (["train", "GRAPHS", "--config", "SHORT"], "-o"),
    (["train", "--config", "SHORT", "-o", "OUT", "--resume"], "DATASET"),
    (["train", "--resume"], "-o"),
    (["train", "--resume", "OUT"], "no run to resume"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", ""], "empty"),
    (["train", "GRAPHS", "--config", "bset", "-o", "OUT"], "bset: no such file"),
    (["train", "GRAPHS", "--config", "absent.toml", "-o", "OUT"], "absent.toml: no such file"),
    (["train", "GRAPHS", "--config", "n" * 300, "-o", "OUT"], "nnn"),
    (["train", "GRAPHS", "--config", "n" * 300 + ".toml", "-o", "OUT"], "nnn"),
    (["train", "GRAPHS", "--config", "FILES", "-o", "OUT"], "cannot read: Is a directory"),
    (["train", "absent.jsonl", "--config", "SHORT", "-o", "OUT"], "absent.jsonl: no such file"),
    (["train", "SHORT", "--config", "SHORT", "-o", "OUT"], "short.toml"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "GRAPHS"], "graphs.jsonl is not a folder"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "GRAPHS/x"], "is not a folder"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "TMP/" + "n" * 300], "File name too long"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "OUT", "--seed", "-1"], "--seed"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "OUT", "--seed", "9" * 30], "seed"),
    (["train", "GRAPHS", "--config", "SHORT", "-o", "OUT", "--resume"], "no checkpoint"),
    (["train", "GRAPHS", "--config", "best", "-o", "OUT"], "number of graphs, 6 (got 100)"),
]


@pytest.mark.parametrize(
    ("words", "expected"), USAGE, ids=[" ".join(word[:12] for word in words) for words, _ in USAGE]
)
def test_bad_usage(
    words: list[str], expected: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    paths = {
        "GRAPHS": files / "graphs.jsonl",
        "SHORT": files / "short.toml",
        "FILES": files,
        "OUT": tmp_path / "run",
        "TMP": tmp_path,
    }
    arguments = [
        "/".join([str(paths.get(head, head)), *rest])
        for head, *rest in (word.split("/") for word in words)
    ]
    before = sorted(files.iterdir())
    assert expected in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []
    assert sorted(files.iterdir()) == before


def test_a_config_that_does_not_fit_the_graphs_is_named(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    config = tmp_path / "none.toml"
    config.write_text(SMALL.replace("[[problems]]", "[[problems]]\noperators = [500, 600]"))
    assert "[500, 600]" in config.read_text()
    words = [files / "graphs.jsonl", "--config", config, "-o", tmp_path / "run"]
    message = refused(capsys, "train", *map(str, words))
    assert message.startswith(f"streamplace: {config}: problems: the dataset gives too few")


def test_a_folder_with_a_run_is_refused(files: Path, tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, *command(files, tmp_path / "run"))
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert "--resume" in refused(capsys, *command(files, tmp_path / "run"))
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_damaged_checkpoint_is_refused(
    keep: int, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    succeeds(capsys, *command(files, tmp_path / "run"))
    checkpoint = tmp_path / "run" / CHECKPOINT
    checkpoint.write_bytes(checkpoint.read_bytes()[:keep])
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert CHECKPOINT in refused(capsys, *command(files, tmp_path / "run", "--resume"))
    assert {path: path.read_bytes() for path in before} == before


def test_work_that_fails_exits_1(files: Path, tmp_path: Path, capsys: Capture) -> None:
    absurd = SMALL.replace("rate = 1e-3", "rate = 1e30\nfinal_rate = 1e30")
    (tmp_path / "absurd.toml").write_text(absurd.replace("epochs = 2", "epochs = 20"))
    words = [files / "graphs.jsonl", "--config", tmp_path / "absurd.toml", "-o", tmp_path / "run"]
    assert main(["train", *map(str, words)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "gradients" in one_line(err.splitlines(keepends=True)[-1])


@pytest.mark.long
def test_out_of_memory(files: Path, tmp_path: Path) -> None:
    """Torch reports a lack of memory by a general error."""
    large = SMALL.replace("hidden = 8", "hidden = 8192")
    (tmp_path / "large.toml").write_text(large)
    words = [files / "graphs.jsonl", "--config", tmp_path / "large.toml", "-o", tmp_path / "run"]
    limited = f"ulimit -d {10**6}; exec {shlex.join([*MODULE, 'train', *map(str, words)])} --quiet"
    ended = subprocess.run(
        ["bash", "-c", limited], env=CPU_ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (1, "streamplace: out of memory\n")
    assert not list(tmp_path.rglob("*.safetensors"))


@pytest.mark.parametrize("key", ["start", "teacher"])
def test_weights_that_a_stage_reads_are_not_overwritten(
    key: str, tmp_path: Path, capsys: Capture
) -> None:
    settings, run = config(of_kind("placeto"), problems={"devices": ["3x2500"]}), tmp_path / "run"
    train(graphs(), settings, run)
    (run / CHECKPOINT).unlink()
    placer, value = f"policy:file={run / POLICY}", settings.model_dump(mode="json")
    if key == "start":
        value["stage"][0]["start"] = placer
    else:
        value["stage"].insert(0, {"algorithm": "imitation", "teacher": placer, "epochs": 1})
    (tmp_path / "next.json").write_text(json.dumps(value))
    before = (run / POLICY).read_bytes()
    write_dataset(tmp_path / "graphs.jsonl", graphs())
    words = [tmp_path / "graphs.jsonl", "--config", tmp_path / "next.json", "-o"]
    message = refused(capsys, "train", *words, run)
    assert message.startswith(f"streamplace: -o {run / POLICY}: would overwrite the input")
    assert (run / POLICY).read_bytes() == before
    succeeds(capsys, "train", *words, tmp_path / "other")


def test_training_goes_on_from_weights(files: Path, tmp_path: Path, capsys: Capture) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    succeeds(capsys, *command(files, first, "--seed", "5"))
    still = ("--set", "stage[0].optimiser.rate=1e-30", "--from", str(first / POLICY))
    done = json_of(capsys, *command(files, second, *still))
    before, after = (opened(run / POLICY)[0] for run in (first, second))
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor, rtol=0.0, atol=1e-7)
    (first / POLICY).unlink()  # a checkpoint has the parameters
    assert json_of(capsys, "train", "--resume", second) == done


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("policy.sizes.hidden=4", "the shape of among.bias is (8,) and that of the config's (4,)"),
        ("policy.sizes.hops=2", "hops.1.norm.bias is absent and that of the config's (8,)"),
        ("policy={kind='encoder-decoder'}", "kind 'device-scorer'; the config trains 'encoder-"),
    ],
)
def test_weights_of_other_shapes_are_refused(
    change: str, expected: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    section = read_config(str(files / "short.toml")).policy
    weights = tmp_path / "weights.safetensors"
    weights.write_bytes(pack_policy(new_policy(section, 0), section, {}))
    words = command(files, tmp_path / "run", "--set", change, "--from", str(weights))
    message = refused(capsys, *words)
    assert message.startswith(f"streamplace: {weights}: ")
    assert expected in message
    assert not (tmp_path / "run" / POLICY).exists()


def test_set_changes_keys_of_the_config(files: Path, tmp_path: Path, capsys: Capture) -> None:
    changes = {
        "stage[0].epochs": "1",
        "stage[0].optimiser.rate": "3e-3",
        "stage[0].reward": "log",
        "policy.sizes.hidden": "4",
        "problems[0].devices": '["2x2500"]',
        "run.held_out": "0",
    }
    words = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    found = json_of(capsys, *command(files, tmp_path / "run", *words))
    assert found["epochs"] == 1
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["stage"][0]["optimiser"]["rate"] == 3e-3
    assert config["stage"][0]["reward"] == "log"
    assert config["policy"]["sizes"]["hidden"] == 4
    assert config["problems"][0]["devices"] == ["2x2500"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stage[0].epcohs=3", "stage[0].epcohs: unknown key 'epcohs'; did you mean 'epochs'?"),
        ("stge[0].epochs=3", "stge[0].epochs: unknown key 'stge'; did you mean 'stage'?"),
        ("stage.epochs=3", "stage.epochs: stage is a list; choose an element, such as stage[0]"),
        ("stage[1].epochs=3", "stage[1].epochs: stage has 1 element, from [0]"),
        ("run[0]=3", "run[0]: run is not a list"),
        ("run.seed.x=3", "run.seed.x: run.seed has no keys"),
        ("stage[0.epochs=3", "stage[0.epochs: is no key; write it as run.seed or"),
        ("stage[0].epochs=many", "--set: stage[0].epochs: must be a whole number"),
        ("stage[0].epochs=-1", "--set: stage[0].epochs: must be at least"),
        ("stage[0].optimiser.rte=1", "unknown key 'rte'; did you mean 'rate'?"),
        ("run.seed", "must be KEY=VALUE (got 'run.seed')"),
    ],
)
def test_bad_values_of_keys(
    text: str, message: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    line = refused(capsys, *command(files, tmp_path / "run", "--set", text))
    assert line.startswith("streamplace: --set: ")
    assert message in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        (["--set", "run.held_out=99"], "--set: run.held_out: must be less than the number"),
        (["--set", "run={held_out=99}"], "--set: run.held_out: must be less than the number"),
        (["--set", "run.held_out=99", "--seeds", "2"], "--set: run.held_out: must be less than"),
        (["--set", "problems[0].operators=[90, 99]"], "--set: problems: the dataset gives too few"),
        (["--seeds", "2"], "{config}: run.held_out: must be less than the number"),
        (["--set", "run.threads=1"], "{config}: run.held_out: must be less than the number"),
    ],
)
def test_keys_that_the_graphs_refute_are_those_of_set_or_of_the_config(
    words: list[str], origin: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    config, dataset = files / "short.toml", files / "graphs.jsonl"
    if "{config}" in origin:
        config = tmp_path / "all.toml"
        config.write_text(re.sub("held_out = .*", "held_out = 99", SMALL))
    line = refused(capsys, "train", dataset, "--config", config, "-o", tmp_path / "run", *words)
    assert line.startswith(f"streamplace: {origin.format(config=config)}")


def test_a_table_that_is_absent_can_be_set() -> None:
    settings = config()
    without = settings.model_copy(
        update={"stage": [settings.stage[0].model_copy(update={"optimiser": None})]}
    )
    rate = with_values(without, {"stage[0].optimiser.rate": 0.5}).stage[0].optimiser
    assert rate is not None
    assert rate.rate == 0.5
    with pytest.raises(FormatError, match="unknown field 'rte'; did you mean 'rate'"):
        with_values(without, {"stage[0].optimiser.rte": 0.5})


def test_several_seeds_are_aggregated_and_resumed(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    runs, more = tmp_path / "runs", ["--seeds", "3", "--seed", "5"]
    found = json_of(capsys, *command(files, runs, *more))
    assert json.loads((runs / "seeds.json").read_text()) == found
    assert found["seeds"] == [5, 6, 7]
    reached = [log_of(runs / f"seed-{seed}")[-1]["validation"] for seed in (5, 6, 7)]
    assert found["measure"] == "validation"
    assert found["values"] == reached
    assert found["mean"] == pytest.approx(sum(reached) / 3)
    assert found["low"] <= found["mean"] <= found["high"]
    best = found["seeds"][reached.index(max(reached))]
    assert (found["best"], found["policy"]) == (best, str(runs / f"seed-{best}" / POLICY))
    alone = json_of(capsys, *command(files, tmp_path / "alone", "--seed", "6"))
    assert found["runs"][1]["parameter_hash"] == alone["parameter_hash"]
    assert (runs / CURVES).exists()

    words = ["train", files / "graphs.jsonl", "-o", runs]
    assert "--resume" in refused(capsys, *command(files, runs, *more))
    shutil.rmtree(runs / "seed-6")  # as if it had been interrupted before this run
    again = json_of(capsys, *words, "--resume", "--seeds", "3")
    assert again == found
    longer = succeeds(capsys, *words, "--resume", "--seeds", "4")
    assert longer.startswith("validation over 4 seeds: mean ")
    assert "no run to resume" in refused(capsys, *words, "--resume")
    assert "has a run without --seeds" in refused(
        capsys, *command(files, tmp_path / "alone", "--resume", "--seeds", "2")
    )
