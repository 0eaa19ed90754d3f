"""REINFORCE with a memory buffer: one step samples, rewards and learns."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import repeat

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.errors import PlacementError, TrainingError
from streamplace.placers.repair import feasible
from streamplace.policy.batch import Batch
from streamplace.policy.decoding import Sampler
from streamplace.policy.features import EncodedProblem
from streamplace.policy.registry import make_network
from streamplace.policy.rollout import Rollout
from streamplace.problem.symmetry import relabelled
from streamplace.scoring.registry import throughput_evaluator
from streamplace.training.algorithms.losses import advantages, policy_loss
from streamplace.training.config import TrainConfig
from streamplace.training.distributed import Workers
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.training.rewards import rewards
from streamplace.util.arrays import Floats, Ints

BAD_STEPS = 20  # in a row without a finite gradient before giving up
Record = dict[str, float | int]
Rows = NDArray[np.int64]


class Learner:
    """A network, its optimiser, and the memory of the problems it learns on.

    Parameters
    ----------
    prepared
        All problems; steps name them by number.
    """

    def __init__(
        self, prepared: Sequence[EncodedProblem], config: TrainConfig, workers: Workers
    ) -> None:
        self.prepared, self.config, self.workers = prepared, config, workers
        torch.manual_seed(config.run.seed)
        self.network = make_network(config.policy)
        self.network.to(workers.device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=config.optimiser.rate)
        self.memory = self.new_memory()
        self._bad = 0

    def new_memory(self) -> EliteBuffer:
        """Return an empty memory of all problems."""
        return EliteBuffer(
            len(self.prepared), self.config.memory.size, self.config.memory.threshold
        )

    def remember(self, number: int, row: Ints) -> None:
        """Remember a teacher's placement, (V,), of a problem, whatever its reward."""
        found = rewards(self.prepared[number], row[None], self.config.sampling.reward)
        self.memory.add(number, found, row[None], threshold=-math.inf)

    def step(self, numbers: np.ndarray, step: int, epoch: int) -> Record:
        """Sample, reward, learn: one step on these problems, largest first.

        All chance comes from the seed and `step`, so that a resumed run draws the same.

        Parameters
        ----------
        epoch
            Of reinforcement, from 0; below 0 the best placements remembered are imitated alone.

        Raises
        ------
        TrainingError
            If gradients stay not finite.
        """
        config, device = self.config, self.workers.device
        seed = [config.run.seed, 2, step, self.workers.rank]
        rng = np.random.default_rng(seed)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        batch = Batch.of([self.prepared[i] for i in numbers], device)
        samples = config.sampling.samples if epoch >= 0 else 0
        forced, counted, remembered = self._rows(batch, numbers, samples, epoch, rng)
        self.optimiser.zero_grad()
        record: Record = {"decisions": int(counted.sum(axis=1) @ batch.sizes)}
        if counted.any():  # else nothing could be repaired
            chosen = Sampler(generator)
            rollout = self.network.rollout(batch, forced.shape[1], chosen, forced)
            reward = np.zeros(counted.shape)
            if samples:
                self._reward(batch, numbers, rollout, reward, counted)
                record |= self._record(rollout, reward[:, :samples], counted[:, :samples], numbers)
            loss = self._loss(batch, rollout, reward, counted, samples, remembered)
            loss.backward()  # type: ignore[no-untyped-call]
            record["loss"] = float(loss.detach())
        self.workers.mean_gradients(self.network)
        self._update()
        return record

    def _reward(
        self,
        batch: Batch,
        numbers: np.ndarray,
        rollout: Rollout,
        reward: Floats,
        counted: np.ndarray,
    ) -> None:
        """Fill in the reward of every row that counts, (P, S); what cannot be repaired does not."""
        found = [
            repaired(one, np.flatnonzero(counted[p]), rollout.placements[p, :, : one.size])
            for p, one in enumerate(batch.prepared)
        ]
        reached = self._rewards(batch.prepared, [placed for _, placed in found])
        for p, (i, (rows, placed)) in enumerate(zip(numbers, found, strict=True)):
            counted[p] = np.isin(np.arange(counted.shape[1]), rows)
            reward[p, rows] = reached[p]
            if len(rows):
                self.memory.add(int(i), reached[p], placed)

    def _rewards(self, prepared: Sequence[EncodedProblem], placed: Sequence[Ints]) -> list[Floats]:
        """Return the rewards of some placements, (·, V), of each problem."""
        kind = repeat(self.config.sampling.reward)
        if not any(throughput_evaluator(one.problem).gains_from_threads for one in prepared):
            return list(map(rewards, prepared, placed, kind))
        with ThreadPoolExecutor(torch.get_num_threads()) as threads:
            return list(threads.map(rewards, prepared, placed, kind))

    def _record(
        self, rollout: Rollout, reward: Floats, counted: np.ndarray, numbers: np.ndarray
    ) -> Record:
        """Return what a step tells of its samples' rewards, (P, S), where they count."""
        made = counted.any(axis=1)
        if not made.any():
            return {}
        mean = reward[made].sum(axis=1, where=counted[made]) / counted[made].sum(axis=1)
        samples = reward.shape[1]
        return {
            "reward": float(mean.mean()),
            "entropy": float(rollout.entropy[:, :samples].detach().mean()),
            "gap": float((self.memory.best[numbers[made]] - mean).mean()),
        }

    def _rows(
        self,
        batch: Batch,
        numbers: np.ndarray,
        samples: int,
        epoch: int,
        rng: np.random.Generator,
    ) -> tuple[Ints, np.ndarray, int]:
        """Return the rows of a step: forced devices, (P, S, V), and which rows count, (P, S).

        First the samples, free; then the placements remembered, the best first, so many as is
        told besides; then random ones.
        """
        sampling, memory = self.config.sampling, self.config.memory
        kept = [self.memory.of(int(i)) for i in numbers]
        learned = memory.samples if samples else 1
        remembered = max((min(learned, len(rows)) for rows in kept), default=0)
        random = [0] * len(numbers)
        if samples:
            mean = sampling.random_samples * math.exp(-epoch / sampling.random_decay)
            at_random = int(mean) + int(rng.random() < mean % 1.0)
            random = [at_random + (sampling.random_if_empty if not rows else 0) for rows in kept]
        shape = (len(numbers), samples + remembered + max(random))
        forced = np.zeros((*shape, int(batch.sizes[0])), dtype=np.int32)
        counted = np.zeros(shape, dtype=bool)
        forced[:, :samples], counted[:, :samples] = -1, True
        for p, one in enumerate(batch.prepared):
            rows = kept[p][:remembered]
            devices = len(one.problem.cluster.devices)
            drawn = rng.integers(devices, size=(random[p], one.size), dtype=np.int32)
            _, drawn = repaired(one, np.arange(len(drawn)), drawn)
            first = samples + remembered
            places = [*range(samples, samples + len(rows)), *range(first, first + len(drawn))]
            for s, row in zip(places, [*rows, *drawn], strict=True):
                forced[p, s, : one.size] = self._in_symmetry(one, row, s)
                counted[p, s] = True
        return forced, counted, remembered

    def _in_symmetry(self, one: EncodedProblem, row: Ints, sample: int) -> Ints:
        """Return a placement with equal devices named as the network would name them."""
        if not self.network.breaks_symmetry:
            return row
        orders = self.network.orders
        return relabelled(row, one.lookahead.kind, one.orders[orders[sample % len(orders)]])

    def _loss(
        self,
        batch: Batch,
        rollout: Rollout,
        reward: Floats,
        counted: np.ndarray,
        samples: int,
        remembered: int,
    ) -> torch.Tensor:
        optimiser, imitate = self.config.optimiser, self.config.memory.imitate
        log_probability, entropy = rollout.log_probability, rollout.entropy
        device = log_probability.device
        there = torch.from_numpy(counted).to(device)
        length = torch.from_numpy(batch.sizes).to(device, torch.float32)
        if samples == 0:
            return -(log_probability * there).sum() / (length.unsqueeze(1) * there).sum()
        advantage = advantages(
            torch.from_numpy(reward).to(device, torch.float32), there, optimiser.normalise
        )
        if self.config.memory.only_better:  # what a policy no longer does is not to be undone
            advantage[:, samples:].clamp_(min=0.0)
        loss = policy_loss(log_probability, advantage, there)
        if imitate and remembered:
            loss = loss - imitate * log_probability[:, samples] * there[:, samples]
        if optimiser.entropy:
            loss = loss - optimiser.entropy * entropy[:, :samples].mean(dim=1) * length
        return loss.sum() / length.sum() if optimiser.per_decision else loss.mean()

    def _update(self) -> None:
        """Take Adam's step, unless the gradient is not finite."""
        limit = self.config.optimiser.largest_gradient or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
        if torch.isfinite(norm):
            self._bad = 0
            self.optimiser.step()
            return
        self._bad += 1
        if self._bad >= BAD_STEPS:
            raise TrainingError(f"{BAD_STEPS} gradients in a row were not finite")

    def set_rate(self, progress: float, step: int) -> None:
        """Warm up, then fall like a cosine from the first rate to the last."""
        optimiser = self.config.optimiser
        last = optimiser.rate if optimiser.final_rate is None else optimiser.final_rate
        rate = last + (optimiser.rate - last) * 0.5 * (1.0 + math.cos(math.pi * progress))
        if step < optimiser.warm_up:
            rate *= (step + 1) / optimiser.warm_up
        for group in self.optimiser.param_groups:
            group["lr"] = rate


def repaired(one: EncodedProblem, rows: Rows, placed: Ints) -> tuple[Rows, Ints]:
    """Return some rows of placements, (S, V), repaired as a placer would; those that can be."""
    if one.problem.feasibility.is_free:
        return rows, placed[rows]
    found, kept = [], []
    for s in rows:
        with suppress(PlacementError):
            kept.append(feasible(one.problem, placed[s]).devices)
            found.append(s)
    return np.array(found, dtype=np.int64), np.array(kept, np.int32).reshape(-1, one.size)
