"""Training on a GPU, and on the CPU beside one."""

from contextlib import closing
from pathlib import Path

import pytest
import torch

from benchmarks.reference.trainings import POLICIES, config, graphs, of_kind
from streamplace.files.training_logs import POLICY
from streamplace.learning.policy.weights import read_policy
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Run
from tests.support.gpus import needs_gpu, run_on_gpu

ON_CPU = ("giph", "hsdag", "placeto", "rebuild")
TRAIN = """
import sys
from pathlib import Path
import torch
from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace.learning.training import train
from tests.support.training_runs import ctrl_c_at

assert torch.cuda.device_count()
kind, folder = sys.argv[1], Path(sys.argv[2])
taught = {"teacher": {"placer": "greedy", "epochs": 1}} if sys.argv[4:] else {}
cfg = config(of_kind(kind), **taught)
assert train(graphs(), cfg, folder, on_step=ctrl_c_at(3)).interrupted
assert not train(graphs(), cfg, folder, resume=True).interrupted
assert torch.cuda.is_initialized() == (sys.argv[3] == "gpu")
"""


@pytest.mark.parametrize("kind", POLICIES)
def test_only_kinds_that_compute_on_a_gpu_are_moved_to_it(kind: str, tmp_path: Path) -> None:
    elsewhere = Workers(device=torch.device("meta"))  # stands for a GPU
    run = Run.start(graphs(), config(of_kind(kind)), tmp_path / "run", "", False, elsewhere)
    with closing(run):
        assert run.policy.torch_device.type == ("cpu" if kind in ON_CPU else "meta")


@pytest.mark.parametrize(
    ("gpus", "processes", "device"),
    [(0, 1, "cpu"), (1, 1, "cuda:0"), (2, 2, "cuda:1"), (1, 2, "cpu")],
)
def test_a_process_has_a_gpu_of_its_own_or_none(
    gpus: int,
    processes: int,
    device: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(processes))
    monkeypatch.setenv("LOCAL_RANK", str(processes - 1))
    assert Workers.of_torchrun().device == torch.device(device)
    expected = ["training on the CPU: 2 processes have 1 GPU(s)"] if 0 < gpus < processes else []
    assert caplog.messages == expected


def test_a_gpu_whose_driver_is_too_old_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert Workers.of_torchrun().device == torch.device("cpu")


@needs_gpu
@pytest.mark.long
@pytest.mark.parametrize("teacher", [(), ("teacher",)], ids=["rewards", "teacher first"])
@pytest.mark.parametrize("kind", [kind for kind in POLICIES if kind not in ON_CPU])
def test_a_run_on_a_gpu_is_interrupted_and_resumed(
    kind: str, teacher: tuple[str, ...], tmp_path: Path
) -> None:
    run_on_gpu(TRAIN, kind, str(tmp_path / "run"), "gpu", *teacher)
    policy, _ = read_policy(tmp_path / "run" / POLICY)
    assert policy.torch_device.type == "cpu"


@needs_gpu
@pytest.mark.long
@pytest.mark.parametrize("kind", ON_CPU)
def test_a_run_on_the_cpu_leaves_a_gpu_alone(kind: str, tmp_path: Path) -> None:
    run_on_gpu(TRAIN, kind, str(tmp_path / "run"), "cpu")
