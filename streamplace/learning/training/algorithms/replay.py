"""REINFORCE with replayed placements, as in the code that Ni et al. released."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.base import constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch, EncodedGraph
from streamplace.learning.training.algorithms.base import Algorithm, Record, Step
from streamplace.learning.training.algorithms.reinforce import advantages, policy_loss
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.problems import repaired
from streamplace.learning.training.stages import ReplayStage
from streamplace.util.arrays import Floats, Ints

LEAST = -150 * math.log(2)
"""Log-probability below which a probability is 0 as a 32-bit number."""
Rows = list[tuple[Ints, float]]
"""Placements of a problem, (V,) each, with their rewards."""


class Replay(Algorithm[ReplayStage]):
    """Policy gradient over the policy's own distinct samples and replayed placements.

    The recipe is that of ``controller_device.py`` and ``environment.py`` in the released code.
    Random placements are not learnt from, but may be replayed. The baseline of a problem is the
    mean reward of its samples in the first epoch, and then that of the best 2n - 1 placements
    found, where n are replayed; advantages above 0 count more, and those below 0 not at all where
    the probability is 0 as a 32-bit number, which could fall forever. All placements name equal
    devices in the same order before they are learnt from.
    """

    def new_memory(self) -> EliteBuffer:
        """Return an empty memory of as many placements as the baseline needs."""
        size = max(2 * self.stage.replayed - 1, 2)
        return EliteBuffer(len(self.learner.encoded), size, -math.inf)

    def loss(self, step: Step, record: Record) -> Tensor | None:
        """Return the loss of a step, or None if none of its placements could be repaired."""
        rng, generator = step.generators()
        batch = self.learner.batch(step.problems)
        before = self.rewards.total
        sampled = constructive(self.learner.policy).sample(
            batch, self.stage.samples, Sampler(generator)
        )
        rows: list[Rows] = []
        baseline = np.zeros(len(batch))
        for p, number in enumerate(step.problems.tolist()):
            operators = batch.encoded[p].size
            self._scored(batch, p, number, self._random(batch, p, number, step, rng))
            own = self._scored(batch, p, number, sampled[p, :, :operators])
            replayed = self._replayed(number)
            baseline[p] = self._baseline(number, own, len(replayed), step.epoch)
            rows.append(own + replayed)
        record["evaluations"] = self.rewards.total - before
        record["decisions"] = sum(len(some) * len(some[0][0]) for some in rows if some)
        if not any(rows):
            return None
        return self._loss(batch, rows, baseline, record)

    def _random(
        self, batch: Batch, p: int, number: int, step: Step, rng: np.random.Generator
    ) -> Ints:
        """Return the random placements of a problem, (R, V)."""
        stage, one = self.stage, batch.encoded[p]
        count = int(stage.random_samples * math.exp(-step.epoch / stage.random_decay))
        if self.memory.best[number] < stage.random_until:
            count = stage.random_samples
        devices = len(one.problem.cluster.devices)
        return rng.integers(devices, size=(count, one.size), dtype=np.int32)

    def _scored(self, batch: Batch, p: int, number: int, placements: Ints) -> Rows:
        """Store the distinct ones of some placements of a problem, (S, V); return them."""
        one = batch.encoded[p]
        _, kept = repaired(one.problem, np.arange(len(placements)), placements)
        named = [one.relabelled(row, 0) if isinstance(one, EncodedGraph) else row for row in kept]
        distinct = list({row.tobytes(): row for row in named}.values())
        if not distinct:
            return []
        rewards = self.rewards(number, np.stack(distinct))
        self.memory.add(number, rewards, np.stack(distinct))
        return list(zip(distinct, rewards.tolist(), strict=True))

    def _replayed(self, number: int) -> Rows:
        """Return the best placements found that are good enough, or the best one alone."""
        best = self.memory.best_of(number)[: self.stage.replayed]
        good = [(row, reward) for row, reward in best if reward >= self.stage.threshold]
        return good or best[:1]

    def _baseline(self, number: int, own: Rows, replayed: int, epoch: int) -> float:
        """Return what the rewards of a problem are compared with."""
        if epoch == 0:
            return float(np.mean([reward for _, reward in own])) if own else 0.0
        best = self.memory.best_of(number)[: max(2 * replayed - 1, 2)]
        return float(np.mean([reward for _, reward in best])) if best else 0.0

    def _loss(self, batch: Batch, rows: Sequence[Rows], baseline: Floats, record: Record) -> Tensor:
        """Return the loss of placements with rewards, and of the baselines of problems, (P,)."""
        shape = (len(batch), max(map(len, rows)))
        forced = np.zeros((*shape, int(batch.sizes[0])), dtype=np.int32)
        reward, counted = np.zeros(shape), np.zeros(shape, dtype=bool)
        for p, some in enumerate(rows):
            for s, (row, value) in enumerate(some):
                forced[p, s, : len(row)], reward[p, s], counted[p, s] = row, value, True
        made = constructive(self.learner.policy).rollout(batch, shape[1], Sampler(), forced)
        log_probability = made.log_probability
        device = log_probability.device
        mask = torch.from_numpy(counted).to(device)
        advantage = advantages(
            torch.from_numpy(reward).to(device, torch.float32),
            mask,
            normalise=False,
            baseline=torch.from_numpy(baseline).to(device, torch.float32),
        )
        advantage = torch.where(advantage > 0, self.stage.raise_by * advantage, advantage)
        advantage = advantage.masked_fill((advantage < 0) & (log_probability < LEAST), 0.0)
        record["reward"] = float(reward[counted].mean())
        record["entropy"] = float(made.mean_entropy.detach()[mask].mean())
        return self.combined(policy_loss(log_probability, advantage, mask))
