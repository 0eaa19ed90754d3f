"""REINFORCE with replayed placements, as in the code that Ni et al. (AAAI 2020) released."""

import math

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.training.algorithms.base import Step
from streamplace.learning.training.algorithms.policy_gradient import PolicyGradient
from streamplace.papers.ni2020.stage import ReplayStage
from streamplace.util.arrays import Floats, Ints

LEAST = -150 * math.log(2)
"""Log-probability below which a probability is 0 as a 32-bit number."""


class Replay(PolicyGradient[ReplayStage]):
    """Policy gradient over the policy's own distinct samples and replayed placements.

    The recipe is that of ``controller_device.py`` and ``environment.py`` in the released code, but
    the gradient is that at the placements which the policy sampled: the released code renames
    their devices first. Random placements are not learnt from, but may be replayed. The baseline of
    a problem is the mean reward of its distinct samples in the first epoch, and then that of the
    best 2n - 1 placements found, where n are replayed; advantages above 0 count more, and those
    below 0 not at all where the probability is 0 as a 32-bit number, which could fall forever.
    """

    @property
    def remembered(self) -> int:
        """As many placements of a problem as the baseline needs."""
        return max(2 * self.stage.replayed - 1, 2)

    def loss(self, step: Step, record: dict[str, float | int]) -> Tensor | None:
        """Return the loss of a step, or None if it has nothing to learn from.

        The rows of a problem are its samples, then stored placements. A row counts as often as it
        is learnt from, which is twice for a sample that is also replayed.
        """
        rng, generator = step.generators()
        samples = self.stage.samples
        batch, numbers = self.learner.batch(step.problems), step.problems.tolist()
        before = self.rewards.total
        for one, number in zip(batch.encoded, numbers, strict=True):
            count = self._random_count(number, step.epoch)
            self.store(number, one, self.drawn(one, count, rng))
        known = [self.memory.of(number)[: self.stage.replayed] for number in numbers]
        added = [dict(enumerate(rows, samples)) for rows in known]
        forced, _ = self.forced(batch, samples, added)
        made = self.policy.rollout(batch, forced.shape[1], Sampler(generator), forced)
        reward, times = np.zeros(forced.shape[:2]), np.zeros(forced.shape[:2])
        baseline = np.zeros(len(batch))
        own: list[Floats] = []
        for p, (one, number) in enumerate(zip(batch.encoded, numbers, strict=True)):
            rows, placed = self.repaired(one, made.placements[p], np.arange(samples))
            stored, reached = self.store(number, one, placed)
            own.append(reached)
            distinct: dict[bytes, int] = {}
            for s, row, value in zip(rows.tolist(), stored, reached.tolist(), strict=True):
                reward[p, s], times[p, distinct.setdefault(row.tobytes(), s)] = value, 1.0
            row_of = {row.tobytes(): s for s, row in added[p].items()} | distinct
            replayed = self._replayed(number)
            for row, value in replayed:
                s = row_of[row.tobytes()]
                reward[p, s] = value
                times[p, s] += 1.0
            sampled = reward[p, list(distinct.values())]
            baseline[p] = self._baseline(number, sampled, len(replayed), step.epoch)
        record["evaluations"] = self.rewards.total - before
        record["decisions"] = int((times > 0.0).sum(axis=1) @ batch.sizes)
        if not times.any():
            return None
        self._report(made, own, step.problems, record)
        return self._loss(made, reward, times, baseline)

    def _random_count(self, number: int, epoch: int) -> int:
        """Return the number of random placements of a problem."""
        stage = self.stage
        if self.memory.best[number] < stage.random_until:
            return stage.random_samples
        return int(stage.random_samples * math.exp(-epoch / stage.random_decay))

    def _replayed(self, number: int) -> list[tuple[Ints, float]]:
        """Return the best placements found that are good enough, or the best one alone."""
        best = self.memory.best_of(number)[: self.stage.replayed]
        good = [(row, reward) for row, reward in best if reward >= self.stage.threshold]
        return good or best[:1]

    def _baseline(self, number: int, sampled: Floats, replayed: int, epoch: int) -> float:
        """Return what the rewards of a problem are compared with."""
        if epoch == 0:
            return float(sampled.mean()) if len(sampled) else 0.0
        best = self.memory.best_of(number)[: max(2 * replayed - 1, 2)]
        return float(np.mean([reward for _, reward in best])) if best else 0.0

    def _report(
        self, made: Trajectories, own: list[Floats], numbers: Ints, record: dict[str, float | int]
    ) -> None:
        """Add metrics of the policy's own samples, (S,) rewards of each problem, to the record."""
        means = np.array([rewards.mean() if len(rewards) else np.nan for rewards in own])
        if np.isnan(means).all():
            return
        record["reward"] = float(np.nanmean(means))
        record["best"] = float(self.memory.best[numbers[~np.isnan(means)]].mean())
        samples = self.stage.samples
        record["entropy"] = float(made.mean_entropy[:, :samples].detach().mean())

    def _loss(self, made: Trajectories, reward: Floats, times: Floats, baseline: Floats) -> Tensor:
        """Return the loss of rows, (P, S), that count some times, and of baselines, (P,)."""
        log_probability = made.log_probability
        weight, baselines = (
            torch.from_numpy(values).to(log_probability) for values in (times, baseline)
        )
        advantage = self.advantages(
            torch.from_numpy(reward).to(log_probability), weight > 0, False, baselines
        )
        advantage = torch.where(advantage > 0, self.stage.raise_by * advantage, advantage)
        advantage = advantage.masked_fill((advantage < 0) & (log_probability < LEAST), 0.0)
        return self.combined(self.policy_loss(log_probability, advantage, weight))
