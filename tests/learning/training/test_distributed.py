"""Training with two processes started by torchrun."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from benchmarks.reference.trainings import config, graphs, of_kind, opened
from streamplace.files import write_dataset, write_json
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY
from tests.support.cli import CPU_ENVIRONMENT
from tests.support.paths import ROOT
from tests.support.processes import free_ports
from tests.support.training_process import LEADER, OTHER, STOP
from tests.support.training_runs import check_finite, check_same, log_of

LIMIT_S = 120
STEPS = 2 * 2  # 2 epochs; each process has 2 of the 5 problems, and one problem per step
ON_LOOPBACK = {**CPU_ENVIRONMENT, "GLOO_SOCKET_IFNAME": "lo"}


@dataclass(frozen=True)
class Done:
    """The files and output of two processes."""

    folder: Path
    out: str

    def summary(self, run: str, rank: int) -> dict[str, Any]:
        """Return the summary that a process wrote about one of its runs."""
        found: dict[str, Any] = json.loads((self.folder / f"{run}-{rank}.json").read_text())
        return found

    def card(self, run: str) -> dict[str, Any]:
        """Return the card of a run's weights."""
        found: dict[str, Any] = json.loads((self.folder / f"{run}.json").read_text())
        return found


pytestmark = pytest.mark.long


@pytest.fixture(scope="module", params=["device-scorer", "giph"])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Train without interruption, then interrupt a run and resume it; see training_process."""
    folder = tmp_path_factory.mktemp("two")
    write_dataset(folder / "graphs.jsonl", graphs())
    write_json(folder / "config.json", config(of_kind(request.param)).model_dump(mode="json"))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    program = ["--nproc_per_node", "2", "-m", "tests.support.training_process"]
    arguments = [folder / "graphs.jsonl", folder / "config.json", folder, *free_ports(3)]
    with subprocess.Popen(
        [*torchrun, *program, *map(str, arguments)],
        cwd=ROOT,
        env=ON_LOOPBACK,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()  # torchrun ends its own children
            raise
    assert process.returncode == 0, err
    return Done(folder, out)


@pytest.mark.parametrize("run", ["uninterrupted", "stopped", "resumed"])
def test_both_processes_have_the_same_parameters(run: str, done: Done) -> None:
    hashes = {done.summary(run, rank)["parameter_hash"] for rank in (LEADER, OTHER)}
    assert hashes == {done.card(run)["parameter_hash"]}


def test_both_processes_do_all_steps(done: Done) -> None:
    for rank in (LEADER, OTHER):
        assert done.summary("uninterrupted", rank)["steps"] == STEPS
        assert done.summary("stopped", rank)["steps"] == STOP
        assert done.summary("resumed", rank)["steps"] == STEPS


def test_ctrl_c_in_one_process_stops_both(done: Done) -> None:
    for rank in (LEADER, OTHER):
        assert done.summary("stopped", rank)["interrupted"] is True
        assert done.summary("resumed", rank)["interrupted"] is False


def test_only_one_process_writes(done: Done) -> None:
    for run in ("uninterrupted", "parts"):
        folder = done.folder / run
        files = {path.name for path in folder.iterdir() if path.is_file()}
        assert files - {"curves.png"} == {CONFIG, CHECKPOINT, POLICY, "log.jsonl"}
        assert [line["step"] for line in log_of(folder)] == [*range(1, STEPS + 1)]
        check_finite(folder)


def test_both_memories_are_saved(done: Done) -> None:
    for run in ("uninterrupted", "parts"):
        tensors, _ = opened(done.folder / run / CHECKPOINT)
        problems = tensors["memory.problem"].tolist()
        assert set(problems) == {0, 1, 2, 3}
        assert max(problems.count(p) for p in problems) <= 2, "more than memory.size"


def test_a_resumed_run_equals_an_uninterrupted_one(done: Done) -> None:
    check_same(done.folder / "parts", done.folder / "uninterrupted")


def test_only_one_process_prints(done: Done) -> None:
    printed = json.loads(done.out)
    assert printed["parameter_hash"] == done.summary("uninterrupted", LEADER)["parameter_hash"]


def test_a_start_that_fails_in_one_process_ends_both_with_its_message(tmp_path: Path) -> None:
    devices = [{"name": name, "mips": 2500, "memory_bytes": 2e9} for name in "xyz"]
    write_json(tmp_path / "cluster.json", {"devices": devices})
    rows = [
        [sp.Operator(v, 1e6, 1e4, memory_bytes=memory) for v in "abc"] for memory in (0.0, 0.0, 1e9)
    ]
    write_dataset(
        tmp_path / "graphs.jsonl",
        [
            sp.StreamGraph(some, [("a", "b"), ("b", "c")], name=f"g{k}")
            for k, some in enumerate(rows)
        ]
        * 2,
    )
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    program = ["--nproc_per_node", "2", "-m", "streamplace.cli.main", "train"]
    options = ["--config", "placeto", "--cluster", "cluster.json", "-o", "run"]
    done = subprocess.run(
        [*torchrun, *program, "graphs.jsonl", *options],
        cwd=tmp_path,
        env={**ON_LOOPBACK, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("streamplace: ")]
    assert len(lines) == 2, done.stderr
    for line in lines:
        assert "stage[0].start: g2: single: no single device may run every" in line
    assert "Connection closed" not in done.stderr
