"""What a checkpoint is loaded into, without the run around it."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reference.trainings import config, of_kind, opened
from streamplace.errors import CheckpointError
from streamplace.policy.registry import make_network
from streamplace.training.checkpoint import Position, load_checkpoint, save_checkpoint
from streamplace.training.elite_buffer import EliteBuffer

Shapes = list[tuple[int, int]]  # operators and devices of each problem


def shapes_in(file: Path) -> Shapes:
    """Return the sizes of the problems whose placements a checkpoint remembers, on 5 devices."""
    try:
        tensors, _ = opened(file)
        rows = zip(tensors["memory.problem"], tensors["memory.length"], strict=True)
        sizes = {int(problem): int(length) for problem, length in rows}
    except (CheckpointError, OSError, ValueError, KeyError):
        sizes = {}
    return [(sizes.get(i, 1), 5) for i in range(5)]


class Parts:
    """What a checkpoint is loaded into: all as it was before the first step."""

    def __init__(self, kind: str) -> None:
        torch.manual_seed(99)
        wanted = config(of_kind(kind))
        self.network = make_network(wanted.policy)
        self.optimiser = torch.optim.Adam(self.network.parameters())
        self.memory = EliteBuffer(5, wanted.memory.size, wanted.memory.threshold)

    def load(
        self, file: Path, run: dict[str, Any] | None = None, shapes: Shapes | None = None
    ) -> Position:
        """Load a checkpoint; the problems are as large as it takes them to be, unless told."""
        parts = (self.network, self.optimiser, self.memory)
        return load_checkpoint(file, *parts, run or {}, shapes or shapes_in(file))

    def save(self, file: Path, position: Position, run: dict[str, Any]) -> None:
        """Save a checkpoint."""
        save_checkpoint(file, self.network, self.optimiser, self.memory, position, run)


def remembering(kind: str) -> Parts:
    """Return parts with something in the memory."""
    parts = Parts(kind)
    parts.memory.add(0, np.array([1.0, 0.5]), np.array([[0, 1, 2], [1, 1, 1]], dtype=np.int32))
    return parts
