"""A training loop that checkpoints are loaded into, without a training run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reference.trainings import config, of_kind, opened
from streamplace import Cluster, Operator, Problem, StreamGraph
from streamplace.errors import CheckpointError
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.registry import PolicySection, make_policy
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner
from streamplace.learning.training.loop import Loop, Position
from streamplace.learning.training.run_files import load_checkpoint, save_checkpoint
from streamplace.learning.training.stages import Stage

Shapes = Sequence[tuple[int, int]]  # operators and devices of each problem
FIVE: Shapes = ((3, 3),) * 5


@dataclass(frozen=True)
class Sized:
    """A problem with only the properties that a checkpoint checks: its size and its devices."""

    problem: Problem
    size: int


def sized(operators: int, devices: int) -> Sized:
    """Return a problem with these numbers of operators and devices."""
    graph = StreamGraph([Operator("a", 1.0, 1.0)], [])
    return Sized(Problem(graph, Cluster.equal(devices), source_rate=1.0), operators)


def loop_of(section: PolicySection, stages: Sequence[Stage], shapes: Shapes) -> Loop:
    """Return a loop before its first step, on problems with these shapes and without features."""
    torch.manual_seed(99)
    own = np.arange(len(shapes), dtype=np.int32)
    encoded = [sized(*shape) for shape in shapes]
    learner = Learner(make_policy(section), encoded, own, 0, Workers())
    return Loop(learner, stages)


def memory_of(loop: Loop) -> EliteBuffer:
    """Return the memory of good placements of a loop's current stage."""
    assert loop.algorithm is not None
    return loop.algorithm.memory


def shapes_in(file: Path) -> Shapes:
    """Return shapes of five problems for a checkpoint: the sizes in its memory, on 5 devices.

    A problem that is not in the memory gets one operator.
    """
    try:
        tensors, _ = opened(file)
        rows = zip(tensors["memory.problem"], tensors["memory.length"], strict=True)
        sizes = {int(problem): int(length) for problem, length in rows}
    except (CheckpointError, OSError, ValueError, KeyError):
        sizes = {}
    return [(sizes.get(i, 1), 5) for i in range(5)]


class Parts:
    """A small training loop before its first step, which can load and save checkpoints.

    Parameters
    ----------
    kind
        Kind of the policy.
    shapes
        Numbers of operators and devices of the problems. A checkpoint is rejected if its memory has
        placements of other sizes.
    """

    def __init__(self, kind: str, shapes: Shapes = FIVE) -> None:
        small = config(of_kind(kind))
        self.loop = loop_of(small.policy, small.stage, shapes)

    @property
    def policy(self) -> AnyPolicy:
        """The policy."""
        return self.loop.learner.policy

    @property
    def memory(self) -> EliteBuffer:
        """The memory of the loop's current stage."""
        return memory_of(self.loop)

    def load(self, file: Path, run: dict[str, Any] | None = None) -> Position:
        """Load a checkpoint; return its position in the training."""
        load_checkpoint(file, self.loop, run or {})
        return self.loop.position

    def save(self, file: Path, position: Position, run: dict[str, Any]) -> None:
        """Save a checkpoint."""
        save_checkpoint(file, self.policy, self.loop.state(), position, run)


def remembering(kind: str) -> Parts:
    """Return parts with two placements in the memory."""
    parts = Parts(kind)
    parts.loop.begin()
    rows = np.array([[0, 1, 2], [1, 1, 1]], dtype=np.int32)
    parts.memory.add(0, np.array([1.0, 0.5]), rows)
    return parts
