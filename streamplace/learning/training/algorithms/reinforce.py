"""REINFORCE (Williams 1992) with a memory buffer."""

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.training.algorithms.base import Record, State, Step
from streamplace.learning.training.algorithms.policy_gradient import PolicyGradient
from streamplace.learning.training.algorithms.step_baseline import StepBaseline
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.stages import ReinforceStage
from streamplace.util.arrays import Bools, Floats, Ints


class Reinforce(PolicyGradient[ReinforceStage]):
    """Policy gradient over sampled, remembered and random placements.

    A step has S rows (placements) per problem: first the policy's own samples, then remembered
    placements, best first, then random ones unless they only enter the memory. The baseline of a
    problem is the mean reward of its rows, or the mean of these means over past steps.
    """

    def __init__(
        self, stage: ReinforceStage, learner: Learner, optimiser: Optimiser, number: int = 0
    ) -> None:
        super().__init__(stage, learner, optimiser, number)
        self._baseline = StepBaseline(stage.window) if stage.baseline == "running" else None

    def new_memory(self) -> EliteBuffer:
        """Return an empty memory with the stage's size and threshold."""
        stage = self.stage
        return EliteBuffer(len(self.learner.encoded), stage.memory.size, stage.threshold)

    def loss(self, step: Step, record: Record) -> Tensor | None:
        """Return the loss of a step.

        It is None if none of its placements could be repaired, if no more may be measured, or if
        there is nothing to learn because all placements of a problem are equally good.
        """
        numbers = self.unspent(step, record)
        return self._loss_of(numbers, step, record) if len(numbers) else None

    def _loss_of(self, numbers: np.ndarray, step: Step, record: Record) -> Tensor | None:
        stage, samples = self.stage, self.stage.samples
        rng, generator = step.generators()
        batch = self.learner.batch(numbers)
        forced, counted, remembered = self._rows(batch, numbers, step, rng)
        record["decisions"] = int(counted.sum(axis=1) @ batch.sizes)
        exploration = step.between(stage.exploration, stage.final_exploration)
        sampler = Sampler(generator, exploration=exploration, greedy=stage.greedy)
        trajectories = self.policy.rollout(batch, forced.shape[1], sampler, forced)
        before = self.rewards.total
        reward = self._reward(batch, numbers, trajectories, counted)
        record["evaluations"] = self.rewards.total - before
        if self.limit:
            record["measurements"] = self.rewards.measured
        if not counted.any():
            return None
        self._report(trajectories, reward[:, :samples], counted[:, :samples], numbers, record)
        baseline = self._baseline_of(numbers, reward, counted)
        return self._loss(batch, trajectories, reward, counted, remembered, baseline)

    def _rows(
        self, batch: Batch, numbers: np.ndarray, step: Step, rng: np.random.Generator
    ) -> tuple[Ints, Bools, int]:
        """Return forced devices, (P, S, V), which rows exist, (P, S), and the remembered count.

        Random placements that are not learnt from are scored and stored here; they have no row.
        """
        stage, samples = self.stage, self.stage.samples
        kept = [self.memory.of(int(i)) for i in numbers]
        remembered = max((min(stage.memory.samples, len(rows)) for rows in kept), default=0)
        mean = stage.random_samples * math.exp(-step.epoch / stage.random_decay)
        at_random = int(mean) + int(rng.random() < mean % 1.0)
        first_random = samples + remembered
        added: list[dict[int, Ints]] = []
        for i, one, rows in zip(numbers, batch.encoded, kept, strict=True):
            count = at_random + (0 if rows else stage.random_if_empty)
            drawn = self.drawn(one, count, rng)
            if not stage.learns_from_random:
                self.store(int(i), one, drawn[self.rewards.affordable(int(i), drawn)])
                drawn = drawn[:0]
            added.append(
                dict(enumerate(rows[:remembered], samples)) | dict(enumerate(drawn, first_random))
            )
        return *self.forced(batch, samples, added), remembered

    def _reward(
        self, batch: Batch, numbers: np.ndarray, trajectories: Trajectories, counted: Bools
    ) -> Floats:
        """Return the reward of every row, (P, S); clear `counted` where there is none.

        A placement that cannot be repaired, or may not be measured any more, has none.
        """
        reward = np.zeros(counted.shape)
        repairs = [
            self.repaired(one, trajectories.placements[p], np.flatnonzero(counted[p]))
            for p, one in enumerate(batch.encoded)
        ]
        for p, (rows, placed) in enumerate(repairs):
            kept = self.rewards.affordable(int(numbers[p]), placed)
            repairs[p] = rows[kept], placed[kept]
        reached = self.rewards.of_several(numbers.tolist(), [placed for _, placed in repairs])
        for p, (i, (rows, placed)) in enumerate(zip(numbers, repairs, strict=True)):
            counted[p] = np.isin(np.arange(counted.shape[1]), rows)
            reward[p, rows] = reached[p]
            if len(rows):
                self.memory.add(int(i), reached[p], placed)
        return reward

    def _report(
        self,
        trajectories: Trajectories,
        reward: Floats,
        counted: Bools,
        numbers: np.ndarray,
        record: Record,
    ) -> None:
        """Add metrics of the policy's own samples, (P, S), to the record."""
        made = counted.any(axis=1)
        if not made.any():
            return
        mean = reward[made].sum(axis=1, where=counted[made]) / counted[made].sum(axis=1)
        samples = reward.shape[1]
        record["reward"] = float(mean.mean())
        record["entropy"] = float(trajectories.mean_entropy[:, :samples].detach().mean())
        record["best"] = float(self.memory.best[numbers[made]].mean())

    def _baseline_of(self, numbers: np.ndarray, reward: Floats, counted: Bools) -> Floats | None:
        """Return the running baseline of each problem, (P,); None for the mean of a step.

        Each step is added to the mean as an episode of one step, whose return is the mean reward.
        """
        if self._baseline is None:
            return None
        baseline = np.zeros(len(numbers))
        for p, number in enumerate(numbers.tolist()):
            if counted[p].any():
                mean = reward[p, counted[p]].mean(keepdims=True)
                baseline[p] = self._baseline.add(number, mean)[0]
        return baseline

    def _loss(
        self,
        batch: Batch,
        trajectories: Trajectories,
        reward: Floats,
        counted: Bools,
        remembered: int,
        baseline: Floats | None,
    ) -> Tensor | None:
        stage, samples = self.stage, self.stage.samples
        log_probability = trajectories.discounted(stage.discount)
        device = log_probability.device
        mask = torch.from_numpy(counted).to(device)
        length = torch.from_numpy(batch.sizes).to(device, torch.float32)
        advantage = self.advantages(
            torch.from_numpy(reward).to(device, torch.float32),
            mask,
            stage.normalise,
            None if baseline is None else torch.from_numpy(baseline).to(device, torch.float32),
        )
        if not (advantage.any() or stage.memory.imitate or stage.entropy):
            return None  # all placements are equally good
        if stage.memory.only_better:  # never unlearn rows that the policy did not sample
            advantage[:, samples:].clamp_(min=0.0)
        loss = self.policy_loss(log_probability, advantage, mask)
        if stage.memory.imitate and remembered:
            best = log_probability[:, samples] * mask[:, samples]
            loss = loss - stage.memory.imitate * best
        if stage.entropy:
            entropy = trajectories.mean_entropy[:, :samples].mean(dim=1)
            loss = loss - stage.entropy * entropy * length
        return self.combined(loss, length if stage.per_decision else None)

    def state(self) -> State:
        """Return the state that this process needs to resume."""
        return super().state() | ({} if self._baseline is None else self._baseline.state())

    def merge(self) -> State:
        """Return the joint state of all processes; every process must call it."""
        joint = super().merge()
        if self._baseline is None:
            return joint
        return joint | self._baseline.gathered(self.learner.workers, self.learner.own).state()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `merge` returned; see `Algorithm.restore`."""
        super().restore(state)
        if self._baseline is not None:
            self._baseline.restore(state)
