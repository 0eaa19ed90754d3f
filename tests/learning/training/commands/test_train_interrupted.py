"""Runs of `train` in processes that are interrupted or killed."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reference.trainings import SMALL, graphs, opened
from streamplace.cli.main import main
from streamplace.files import read_dataset, write_dataset
from streamplace.files.training_logs import CHECKPOINT
from streamplace.learning.training import read_config, train
from tests.support.cli import CPU_ENVIRONMENT, MODULE, Capture, json_of, refused
from tests.support.training_runs import check_finite, check_same, log_of

KILLS = 4
POLL_S = 0.005
CURVES = "curves.png"
LIMIT_S = 120
LONG = SMALL.replace("epochs = 2", "epochs = 30").replace("_every = 2", "_every = 1")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a dataset and a config."""
    folder = tmp_path_factory.mktemp("files")
    write_dataset(folder / "graphs.jsonl", graphs())
    (folder / "long.toml").write_text(LONG)
    return folder


def command(files: Path, folder: Path, *more: str) -> list[str]:
    """Return a training command."""
    words = [files / "graphs.jsonl", "--config", files / "long.toml", "-o", folder, *more]
    return ["train", *map(str, words)]


def start(files: Path, folder: Path, *more: str) -> "subprocess.Popen[str]":
    """Start training in a separate process."""
    return subprocess.Popen(
        [*MODULE, *command(files, folder, *more)],
        env=CPU_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: "subprocess.Popen[str]", condition: Callable[[], bool]) -> None:
    """Wait until a condition holds or the process has ended."""
    until = time.monotonic() + LIMIT_S
    while process.poll() is None and not condition():
        assert time.monotonic() < until, "timed out"
        time.sleep(POLL_S)


def stamp(folder: Path) -> int:
    """Return the modification time of the checkpoint, or 0 where there is none."""
    checkpoint = folder / CHECKPOINT
    return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0


def saved(folder: Path) -> int:
    """Return the step of the checkpoint, or 0 where there is none."""
    if not (folder / CHECKPOINT).exists():
        return 0
    _, words = opened(folder / CHECKPOINT)  # an incomplete file would be refused
    return int(json.loads(words["position"])["step"])


def uninterrupted(files: Path, folder: Path) -> str:
    """Train without interruption, and return the hash of the parameters."""
    config = read_config(str(files / "long.toml"))
    return train(read_dataset(files / "graphs.jsonl"), config, folder).parameter_hash


@pytest.mark.long
def test_ctrl_c_saves_a_checkpoint(files: Path, tmp_path: Path) -> None:
    with start(files, tmp_path / "run") as process:
        try:
            wait_for(process, lambda: stamp(tmp_path / "run") > 0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert out == ""
    step = saved(tmp_path / "run")
    output = [line for line in err.splitlines() if ", epoch " not in line]  # all but progress
    assert len(output) == 1
    assert f"interrupted after step {step}" in output[0]
    assert "--resume" in output[0]
    assert [line["step"] for line in log_of(tmp_path / "run")] == [*range(1, step + 1)]
    assert (tmp_path / "run" / CURVES).exists()
    check_finite(tmp_path / "run")


def kill_once_saved(process: "subprocess.Popen[str]", run: Path, wait_s: float) -> None:
    """Kill a process `wait_s` after it has saved a checkpoint."""
    before, written = saved(run), stamp(run)
    try:
        wait_for(process, lambda: stamp(run) > written)
        time.sleep(wait_s)
    finally:
        process.kill()
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == -signal.SIGKILL, f"ended before it was killed: {err}"
    assert saved(run) > before


@pytest.mark.long
def test_a_killed_run_resumes(files: Path, tmp_path: Path) -> None:
    """Even a kill while a file is being written leaves no incomplete file."""
    run, rng = tmp_path / "run", np.random.default_rng(1)
    for kill in range(KILLS):
        with start(files, run, *["--resume"] * (kill > 0)) as process:
            kill_once_saved(process, run, rng.random() * 0.04)
    with start(files, run, "--resume", "--json") as process:
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["parameter_hash"] == uninterrupted(files, tmp_path / "uninterrupted")
    check_same(run, tmp_path / "uninterrupted")


def test_resuming_needs_no_config(
    files: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ("--seed", "3", "--set", "stage[0].samples=2")
    with monkeypatch.context() as patched:
        patched.setattr(
            "streamplace.learning.training.commands.train.TrainingProgress.__call__", ctrl_c
        )
        assert main(command(files, tmp_path / "run", *changes)) == 130
        advice = "interrupted after step 1; resume with --resume\n"
        assert capsys.readouterr().err.endswith(advice)
    again = ["train", "--resume", tmp_path / "run"]
    other = refused(capsys, *again, "--set", "stage[0].samples=3")
    assert "belongs to another run: config.stage[0].samples: 2 in the checkpoint, 3 now" in other
    assert "belongs to another run" in refused(capsys, *again, "--config", files / "long.toml")
    write_dataset(tmp_path / "other.jsonl", graphs()[::-1])
    folder = ("-o", tmp_path / "run", "--resume")
    message = refused(capsys, "train", tmp_path / "other.jsonl", *folder)
    assert "belongs to another run: other graphs or clusters" in message
    with monkeypatch.context() as patched:
        patched.setattr(
            "streamplace.learning.training.commands.train.TrainingProgress.__call__", ctrl_c
        )
        assert main([*map(str, ("train", *folder))]) == 130
    found = json_of(capsys, *again)
    whole = json_of(capsys, *command(files, tmp_path / "whole", *changes))
    assert found["parameter_hash"] == whole["parameter_hash"]
    empty = ["train", files / "graphs.jsonl", "-o", tmp_path / "empty"]
    assert "no run to resume, since there is no such folder; --config" in refused(
        capsys, *empty, "--resume"
    )
    assert "missing option --config, which only --resume" in refused(capsys, *empty)
    assert not (tmp_path / "empty").exists()


def ctrl_c(progress: object, record: object) -> None:
    """Interrupt the run after a step."""
    signal.raise_signal(signal.SIGINT)
