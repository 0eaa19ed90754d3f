"""The part of an algorithm's state that is a buffer of placements."""

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from torch import Tensor

from streamplace.training.algorithms.base import Algorithm, Known, State
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.training.learner import Learner
from streamplace.training.optimiser import Optimiser
from streamplace.training.rewards import Rewards
from streamplace.training.stages import Stage
from streamplace.util.arrays import Floats

S = TypeVar("S", bound=Stage)


class Remembering(Algorithm[S]):
    """An algorithm that keeps placements of its problems.

    Attributes
    ----------
    memory
        The placements; each process fills in those of its own problems.
    rewards
        The rewards by which they are compared.
    """

    def __init__(
        self, stage: S, learner: Learner, optimiser: Optimiser, memory: EliteBuffer
    ) -> None:
        super().__init__(stage, learner, optimiser)
        self.memory = memory
        self.rewards = Rewards(learner.problems, stage.reward, stage.model, learner.evaluations)

    def begin(self, known: Known) -> None:
        """Remember the placements of earlier stages, whatever their reward."""
        for number, placements in known.items():
            rows = np.stack(placements)
            self.memory.add(number, self.rewards(number, rows), rows, threshold=-math.inf)

    @property
    def best_rewards(self) -> Floats:
        """(P,) the best reward of each problem so far."""
        return self.memory.best

    def known(self) -> Known:
        """Return the placements in memory, best first."""
        kept: Known = {}
        for problem, _, row in self.memory.entries():
            kept.setdefault(problem, []).append(row)
        return kept

    def state(self) -> State:
        """Return the optimiser's moments and the memory."""
        return super().state() | self.memory.state()

    def merge(self) -> State:
        """Return the state with the memories of all processes."""
        own = set(self.learner.own.tolist())
        mine = [entry for entry in self.memory.entries() if entry[0] in own]
        parts = self.learner.workers.gathered((mine, self.memory.best))
        return super().state() | self.memory.merged(parts).state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take on what `merge` returned; see `Algorithm.restore`."""
        super().restore(state)
        self.memory.restore(state, self.learner.shapes)
