"""A test that trainings do the same on a busy machine."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from streamplace.families import Recipe
from streamplace.files.training_logs import POLICY
from streamplace.learning.training import read_config, train

GRAPHS = [Recipe("dream", 8, seed=5).graph(i) for i in range(8)]
BUSY = [sys.executable, "-c", "while True: pass"]


def trained(folder: Path) -> bytes:
    """Return the bytes of a policy after one epoch with the config of the shipped one."""
    config = read_config("b")
    stages = [stage.model_copy(update={"epochs": 1}) for stage in config.stage]
    run = config.run.model_copy(update={"held_out": 0})
    train(GRAPHS, config.model_copy(update={"stage": stages, "run": run}), folder)
    return (folder / POLICY).read_bytes()


@pytest.mark.long
def test_busy_loops_change_nothing(tmp_path: Path) -> None:
    alone = trained(tmp_path / "alone")
    with ExitStack() as stack:
        for _ in range(3):
            process = stack.enter_context(subprocess.Popen(BUSY))
            stack.callback(process.kill)
        assert trained(tmp_path / "beside") == alone
