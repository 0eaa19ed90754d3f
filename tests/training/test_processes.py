"""Two processes, as torchrun starts them, train one policy."""

import json
import socket
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import SMALL, graphs, opened
from streamplace.files import write_dataset
from streamplace.training.trainer import CHECKPOINT, CONFIG, POLICY
from tests.cli.command import ENVIRONMENT, ROOT
from tests.training.process import LEADER, OTHER, STOP
from tests.training.runs import check_finite, check_same, log_of

LIMIT_S = 120
STEPS = 2 * 2  # 2 epochs; of 5 problems each process has 2, and looks at one a step
ON_LOOPBACK = {
    **ENVIRONMENT,
    "CUDA_VISIBLE_DEVICES": "",
    "GLOO_SOCKET_IFNAME": "lo",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Done:
    """What two processes have left behind."""

    folder: Path
    out: str

    def told(self, run: str, rank: int) -> dict[str, Any]:
        """Return what a process says of one of its runs."""
        found: dict[str, Any] = json.loads((self.folder / f"{run}-{rank}.json").read_text())
        return found

    def card(self, run: str) -> dict[str, Any]:
        """Return the card of the weights as that run has left them."""
        found: dict[str, Any] = json.loads((self.folder / f"{run}.json").read_text())
        return found


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Train without a stop, then with one, then on; see `process`."""
    folder = tmp_path_factory.mktemp("two")
    write_dataset(folder / "graphs.jsonl", graphs())
    (folder / "config.toml").write_text(SMALL)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    program = ["--nproc_per_node", "2", "-m", "tests.training.process"]
    arguments = [folder / "graphs.jsonl", folder / "config.toml", folder, *free_ports(3)]
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
            process.terminate()  # it ends those that it has started
            raise
    assert process.returncode == 0, err
    return Done(folder, out)


@pytest.mark.parametrize("run", ["whole", "stopped", "resumed"])
def test_both_hold_the_same_parameters(run: str, done: Done) -> None:
    hashes = {done.told(run, rank)["parameter_hash"] for rank in (LEADER, OTHER)}
    assert hashes == {done.card(run)["parameter_hash"]}


def test_they_do_all_steps(done: Done) -> None:
    for rank in (LEADER, OTHER):
        assert done.told("whole", rank)["steps"] == STEPS
        assert done.told("stopped", rank)["steps"] == STOP
        assert done.told("resumed", rank)["steps"] == STEPS


def test_ctrl_c_in_one_stops_both_and_both_say_so(done: Done) -> None:
    for rank in (LEADER, OTHER):
        assert done.told("stopped", rank)["interrupted"] is True
        assert done.told("resumed", rank)["interrupted"] is False


def test_one_of_them_writes(done: Done) -> None:
    for run in ("whole", "parts"):
        folder = done.folder / run
        files = {path.name for path in folder.iterdir() if path.is_file()}
        assert files - {"curves.png"} == {CONFIG, CHECKPOINT, POLICY, "log.jsonl"}
        assert [line["step"] for line in log_of(folder)] == [*range(1, STEPS + 1)]
        check_finite(folder)


def test_the_memories_of_both_are_saved_once(done: Done) -> None:
    for run in ("whole", "parts"):
        tensors, _ = opened(done.folder / run / CHECKPOINT)
        problems = tensors["memory.problem"].tolist()
        assert set(problems) == {0, 1, 2, 3}
        assert max(problems.count(p) for p in problems) <= 2, "more than memory.size"


def test_stopped_and_taken_up_is_the_same(done: Done) -> None:
    check_same(done.folder / "parts", done.folder / "whole")


def test_one_of_them_prints(done: Done) -> None:
    printed = json.loads(done.out)
    assert printed["parameter_hash"] == done.told("whole", LEADER)["parameter_hash"]
