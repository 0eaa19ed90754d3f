"""A checkpoint of a tiny training run, and a reader that loads it like `train --resume`."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reference.checkpoint_parts import loop_of, memory_of
from streamplace.learning.training.loop import Loop, Position
from streamplace.learning.training.run_files import load_checkpoint, save_checkpoint
from streamplace.learning.training.stages import MemorySection, ReinforceStage
from tests.corpus.own_files import tiny

SHAPES = ((3, 2), (4, 2))
STAGE = ReinforceStage(algorithm="reinforce", epochs=1, memory=MemorySection(size=2, threshold=0.0))
RUN: dict[str, Any] = {"problems": "0a1b", "processes": 1, "config": {"run": {"seed": 0}}}


@cache
def written(folder: Path) -> bytes:
    """Write a checkpoint of a loop after one training step; return its bytes."""
    loop = _loop()
    loop.begin()
    policy = loop.learner.policy
    total: Any = sum(parameter.sum() for parameter in policy.parameters())
    total.backward()
    assert loop.algorithm is not None
    loop.algorithm.optimiser.update()
    for number, (operators, _) in enumerate(SHAPES):
        rows = np.zeros((1, operators), dtype=np.int32)
        memory_of(loop).add(number, np.array([0.5]), rows)
    path = folder / "checkpoint.safetensors"
    save_checkpoint(path, policy, loop.state(), Position(0, 1, 1, 0.5), RUN)
    return path.read_bytes()


def resume(path: str) -> Position:
    """Load a checkpoint into a fresh training loop; return the position of the loop."""
    loop = _loop()
    load_checkpoint(Path(path), loop, RUN)
    return loop.position


def _loop() -> Loop:
    return loop_of(tiny(), [STAGE], SHAPES)
