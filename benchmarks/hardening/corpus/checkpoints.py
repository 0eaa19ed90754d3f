"""A checkpoint of a tiny run, and its loading as `train --resume` loads it."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.hardening.corpus.own_files import tiny
from streamplace.policy.registry import make_network
from streamplace.training.checkpoint import Position, load_checkpoint, save_checkpoint
from streamplace.training.elite_buffer import EliteBuffer

SHAPES = [(3, 2), (4, 2)]
RUN: dict[str, Any] = {"problems": "0a1b", "processes": 1, "config": {"run": {"seed": 0}}}


@cache
def written(folder: Path) -> bytes:
    """Return the bytes of a checkpoint after one step."""
    state = _state()
    network, optimiser, memory = state
    sum(parameter.sum() for parameter in network.parameters()).backward()
    optimiser.step()
    for number, (operators, _) in enumerate(SHAPES):
        rows = np.zeros((1, operators), dtype=np.int32)
        memory.add(number, np.array([0.5]), rows)
    path = folder / "checkpoint.safetensors"
    save_checkpoint(path, *state, Position(0, 1, 1, 0.5), RUN)
    return path.read_bytes()


def resume(path: str) -> Position:
    """Load a checkpoint into fresh state; return its position."""
    return load_checkpoint(Path(path), *_state(), RUN, SHAPES)


def _state() -> tuple[Any, Any, EliteBuffer]:
    torch.manual_seed(0)
    network = make_network(tiny())
    return (
        network,
        torch.optim.Adam(network.parameters(), lr=1e-3),
        EliteBuffer(len(SHAPES), 2, 0.0),
    )
