"""The base class of the training algorithms, which compute a loss."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.config import MAX_PLACEMENTS
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.rewards import MeasuredRewards, Rewards
from streamplace.learning.training.stages import MeasurableStage, Stage
from streamplace.util.arrays import Floats, Ints

Record: TypeAlias = dict[str, float | int]
"""The metrics of a step, by name."""
State: TypeAlias = dict[str, Tensor]
"""Tensors by name."""
Known: TypeAlias = dict[int, list[Ints]]
"""Good placements, (V,) devices each, by problem number, best first."""
S = TypeVar("S", bound=Stage)


@dataclass(frozen=True)
class Step:
    """One step of a stage.

    Attributes
    ----------
    problems
        (P,) problem numbers, largest problem first.
    seed
        Seed of all random choices in the step, so that a resumed run makes the same ones.
    epoch
        Epoch within the stage, from 0.
    progress
        Share of the stage that is done, from 0 to 1.
    """

    problems: np.ndarray
    seed: list[int]
    epoch: int
    progress: float

    def generators(self) -> tuple[np.random.Generator, torch.Generator]:
        """Return random generators of numpy and torch, both seeded with the step's seed."""
        rng = np.random.default_rng(self.seed)
        return rng, torch.Generator().manual_seed(int(rng.integers(2**62)))

    def between(self, first: float, last: float | None) -> float:
        """Return the value that changes linearly from `first` to `last` over the stage."""
        return first if last is None else first + (last - first) * self.progress


class Algorithm(ABC, Generic[S]):
    """The training algorithm of one stage.

    Its state contains everything it needs to resume after an interruption: optimiser moments, the
    memory of good placements, and running means.

    Attributes
    ----------
    memory
        Good placements, which are passed to the next stage; each process adds those of its own
        problems.
    rewards
        The rewards that rank the placements.
    number
        The number of the stage in the run.
    """

    def __init__(self, stage: S, learner: Learner, optimiser: Optimiser, number: int = 0) -> None:
        self.stage, self.learner, self.optimiser = stage, learner, optimiser
        self.number = number
        self.memory = self.new_memory()
        self.rewards = self.new_rewards()

    @property
    def remembered(self) -> int:
        """The number of placements of a problem that the memory stores: all by default."""
        return MAX_PLACEMENTS

    def new_memory(self) -> EliteBuffer:
        """Return an empty memory that stores placements whatever their reward."""
        return EliteBuffer(len(self.learner.encoded), self.remembered, -math.inf)

    def new_rewards(self) -> Rewards:
        """Return the stage's rewards, which may be measured."""
        stage, learner = self.stage, self.learner
        if not self.limit:
            return Rewards(learner.problems, stage.reward, stage.model, learner.evaluations)
        assert learner.measurements is not None, "refused before the run"
        return MeasuredRewards(
            learner.problems,
            stage.reward,
            learner.measurements,
            self.limit,
            learner.evaluations,
            learner.stop.is_set,
        )

    @property
    def limit(self) -> int:
        """The number of placements of each problem that may be measured; 0: none is."""
        return self.stage.measurements if isinstance(self.stage, MeasurableStage) else 0

    @property
    def is_spent(self) -> bool:
        """Whether no new placement of any problem may be scored, so that the stage ends."""
        return bool(self.rewards.spent(self.learner.own).all())

    def begin(self, known: Known) -> None:
        """Prepare the stage: store the placements of earlier stages, whatever their reward.

        Where rewards are measured, only those for which the memory has room are measured anew.
        """
        for number, placements in self.affordable(known).items():
            rows = np.stack(placements)
            self.memory.add(number, self.scored(number, rows), rows, threshold=-math.inf)

    def scored(self, number: int, rows: Ints) -> Floats:
        """Return the rewards, (S,), by which the memory ranks placements of a problem, (S, V)."""
        return self.rewards(number, rows)

    def affordable(self, known: Known) -> Known:
        """Return the placements of earlier stages, as many as the memory holds if measured."""
        if not self.limit:
            return known
        most = max(1, min(self.memory.size, self.limit))
        return {number: rows[:most] for number, rows in known.items()}

    def unspent(self, step: Step, record: Record) -> Ints:
        """Return the numbers of the problems of a step of which more placements may be scored.

        Without any, the record says that nothing was made.
        """
        numbers: Ints = step.problems[~self.rewards.spent(step.problems)]
        if not len(numbers):
            record |= {"decisions": 0, "evaluations": 0, "measurements": self.rewards.measured}
        return numbers

    @abstractmethod
    def loss(self, step: Step, record: Record) -> Tensor | None:
        """Return the loss of a step and add its metrics to the record.

        None means that this process has nothing to learn from in this step.
        """

    def step(self, step: Step) -> Record:
        """Take one step; parameters stay if no process has anything to learn from.

        Raises
        ------
        TrainingError
            If the gradients are not finite in too many consecutive steps.
        """
        record: Record = {}
        self.descend(self.loss(step, record), record)
        return record

    def descend(self, loss: Tensor | None, record: Record) -> None:
        """Take a step of the optimiser with the mean gradients of all processes.

        Raises
        ------
        TrainingError
            If the gradients are not finite in too many consecutive steps.
        """
        self.optimiser.zero_gradients()
        if loss is not None:
            loss.backward()  # type: ignore[no-untyped-call]
            record["loss"] = float(loss.detach())
        if self.learner.workers.any(loss is not None):  # momentum alone must not move parameters
            self.learner.workers.mean_gradients(self.learner.policy)
            self.optimiser.update()

    def combined(self, terms: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return the training loss of a step from the terms of its problems, (P,).

        It is their mean or, with weights, (P,), their sum divided by the sum of the weights. In a
        stack of policies, each member has one problem per step and learns as if trained alone: the
        result is the sum of the terms, each divided by its own weight.
        """
        if self.learner.policy.members > 1:
            return (terms if weights is None else terms / weights).sum()
        return terms.mean() if weights is None else terms.sum() / weights.sum()

    @property
    def best_rewards(self) -> Floats:
        """(P,) the best reward of each problem so far; -inf while no placement has been scored."""
        return self.memory.best

    def known(self) -> Known:
        """Return the good placements to pass to the next stage, best first."""
        kept: Known = {}
        for problem, _, row in self.memory.entries():
            kept.setdefault(problem, []).append(row)
        return kept

    def state(self) -> State:
        """Return the state that this process needs to resume."""
        return self.optimiser.state() | self.memory.state() | self.rewards.state()

    def merge(self) -> State:
        """Return the joint state of all processes; every process must call it.

        Parameters and optimiser state are the same in all processes; the good placements that each
        of them remembers for its own problems are joined.
        """
        own = set(self.learner.own.tolist())
        mine = [entry for entry in self.memory.entries() if entry[0] in own]
        parts = self.learner.workers.gathered((mine, self.memory.best))
        return self.optimiser.state() | self.memory.merged(parts).state() | self.rewards.state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `merge` returned.

        Raises
        ------
        KeyError, ValueError, RuntimeError
            If tensors are missing or have the wrong shapes.
        """
        self.optimiser.restore(state)
        self.memory.restore(state, self.learner.shapes)
        self.rewards.restore(state)
