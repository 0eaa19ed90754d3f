"""The frame of training algorithms: what turns trajectories into a loss, step after step."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.config import MOST_PLACEMENTS
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.training.learner import Learner
from streamplace.training.optimiser import Optimiser
from streamplace.training.rewards import Rewards
from streamplace.training.stages import Stage
from streamplace.util.arrays import Floats, Ints

Record: TypeAlias = dict[str, float | int]
"""The figures of a step, by name."""
State: TypeAlias = dict[str, Tensor]
"""Tensors by name."""
Known: TypeAlias = dict[int, list[Ints]]
"""Good placements, (V,) devices each, by the number of their problem."""

S = TypeVar("S", bound=Stage)


@dataclass(frozen=True)
class Step:
    """One step of a stage.

    Attributes
    ----------
    problems
        (P,) numbers of the problems, largest first.
    seed
        The seed of all chance in the step, so that a resumed run draws the same.
    epoch
        Epoch of the stage, from 0.
    progress
        The share of the stage that is done, from 0 to 1.
    """

    problems: np.ndarray
    seed: list[int]
    epoch: int
    progress: float

    def generators(self) -> tuple[np.random.Generator, torch.Generator]:
        """Return random generators of numpy and torch, both of the step's seed."""
        rng = np.random.default_rng(self.seed)
        return rng, torch.Generator().manual_seed(int(rng.integers(2**62)))

    def between(self, first: float, last: float | None) -> float:
        """Return a value that goes linearly from the first to the last over the stage."""
        return first if last is None else first + (last - first) * self.progress


class Algorithm(ABC, Generic[S]):
    """One stage's algorithm.

    Everything it needs to go on after an interruption is in its state: the moments of its
    optimiser, its memory, running means.

    Attributes
    ----------
    memory
        Good placements, which the next stage begins with; each process fills in those of its own
        problems.
    rewards
        The rewards by which placements are compared.
    """

    def __init__(self, stage: S, learner: Learner, optimiser: Optimiser) -> None:
        self.stage, self.learner, self.optimiser = stage, learner, optimiser
        self.memory = self.new_memory()
        self.rewards = Rewards(learner.problems, stage.reward, stage.model, learner.evaluations)

    def new_memory(self) -> EliteBuffer:
        """Return an empty memory, which keeps every placement that it is handed."""
        return EliteBuffer(len(self.learner.encoded), MOST_PLACEMENTS, -math.inf)

    def begin(self, known: Known) -> None:
        """Prepare the stage: remember placements of earlier ones, whatever their reward."""
        for number, placements in known.items():
            rows = np.stack(placements)
            self.memory.add(number, self.rewards(number, rows), rows, threshold=-math.inf)

    @abstractmethod
    def loss(self, step: Step, record: Record) -> Tensor | None:
        """Return the loss of a step and add its figures to the record.

        None means that this process has nothing to learn from in this step.
        """

    def step(self, step: Step) -> Record:
        """Take one step.

        Raises
        ------
        TrainingError
            If gradients stay not finite.
        """
        record: Record = {}
        loss = self.loss(step, record)
        self.optimiser.zero_gradients()
        if loss is not None:
            loss.backward()  # type: ignore[no-untyped-call]
            record["loss"] = float(loss.detach())
        self.learner.workers.mean_gradients(self.learner.policy)
        self.optimiser.update()
        return record

    def combined(self, losses: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return one loss from those of the problems of a step, (P,).

        It is their mean, or with weights, (P,), their sum over the sum of weights. A stack of
        policies has one problem a member in a step, and learns each as if it were alone: the losses
        are added up, each over its own weight.
        """
        if self.learner.policy.members > 1:
            return (losses if weights is None else losses / weights).sum()
        return losses.mean() if weights is None else losses.sum() / weights.sum()

    @property
    def best_rewards(self) -> Floats:
        """(P,) the best reward of each problem so far; -inf where none is known."""
        return self.memory.best

    def known(self) -> Known:
        """Return the good placements that the next stage may begin with, best first."""
        kept: Known = {}
        for problem, _, row in self.memory.entries():
            kept.setdefault(problem, []).append(row)
        return kept

    def state(self) -> State:
        """Return what this process needs to go on."""
        return self.optimiser.state() | self.memory.state()

    def merge(self) -> State:
        """Return the state of all processes as one.

        The processes share parameters and optimisers; what each remembers of its own problems is
        gathered. All processes must call it.
        """
        own = set(self.learner.own.tolist())
        mine = [entry for entry in self.memory.entries() if entry[0] in own]
        parts = self.learner.workers.gathered((mine, self.memory.best))
        return self.optimiser.state() | self.memory.merged(parts).state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take on what `merge` returned.

        Raises
        ------
        KeyError, ValueError, RuntimeError
            If tensors are missing, or are of other shapes.
        """
        self.optimiser.restore(state)
        self.memory.restore(state, self.learner.shapes)
