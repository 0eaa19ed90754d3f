"""HSDAG as a policy: groups of operators, and a device for each, again and again."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from streamplace.policy.base import Refiner
from streamplace.policy.config import HsdagSizes
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.device_counts import check_devices
from streamplace.policy.hsdag.features import EncodedProblem, HsdagBatch, encode, feature_count
from streamplace.policy.hsdag.graphs import joined, joined_groups
from streamplace.policy.hsdag.layers import Drop
from streamplace.policy.hsdag.network import (
    GroupingNetwork,
    Head,
    Independent,
    Loaded,
    composed,
    parted,
)
from streamplace.policy.hsdag.offers import Offer, drawn, padded
from streamplace.policy.hsdag.walking import Record, Step, Walk, score, trajectories_of, walk_from
from streamplace.policy.trajectories import Trajectories, of_choices
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

VERTICES = 20_000  # whose probabilities are computed at once, to bound memory


class Hsdag(Refiner[EncodedProblem, HsdagBatch]):
    """A policy that groups the operators and chooses a device for each group in every step.

    A step makes a whole placement. It depends on the steps before through the features: each step
    adds the vectors of the groups to the features of their vertices, from which the next step makes
    other groups. The placement that an episode starts from is only what rewards compare with.
    """

    relocates = False
    gpu = False  # groups are formed, and streams smoothed, by kernels for the CPU

    watch: Callable[[Sequence[Walk]], None]
    """Called with the walks of every rollout, for studies of what the policy decides."""

    def __init__(self, sizes: HsdagSizes) -> None:
        super().__init__()
        self.config = sizes
        features = feature_count(sizes)
        self.network = GroupingNetwork(sizes, features)
        self.head: Head = (
            Loaded(features, sizes.hidden)
            if sizes.capacity
            else Independent(features, sizes.hidden, sizes.devices)
        )
        self.watch = _ignored

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config)

    def batch(self, encoded: Sequence[EncodedProblem]) -> HsdagBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return HsdagBatch(encoded)

    def check(self, problem: Problem) -> None:
        """Raise an UnsuitableError if the number of devices differs from the network's outputs."""
        if not self.config.capacity:
            check_devices(problem, self.config.devices)

    def episode(self, encoded: EncodedProblem) -> int:
        """Return the number of steps of an episode."""
        return self.config.steps

    def grouping(self, problem: Problem) -> Grouping:
        """Return the groups of operators that the first step of an episode makes."""
        one = self.encode(problem)
        least = np.array([one.least], np.int32)
        with torch.inference_mode():
            parsed = self.network(torch.from_numpy(one.features), one.graph, least, _kept)
        return Grouping(problem.graph, composed(parsed.levels)[one.grouping.group_of])

    def rollout(
        self,
        batch: HsdagBatch,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
        forced: Ints | None = None,
    ) -> Trajectories:
        """Make a placement in each step; see `Refiner.rollout`.

        Groups and devices are chosen without gradients. The probabilities of all steps are then
        computed at once, for the same groups.
        """
        samples, operators = start.shape[1], start.shape[2]
        walks = [
            walk_from(one, start[p, s, : one.size], steps[p])
            for p, one in enumerate(batch.encoded)
            for s in range(samples)
        ]
        parts = operators if forced is None else max(operators, forced.shape[3])
        record = Record(walks, parts, self._seed(sampler))
        score(walks, 0, samples, evaluators)
        with torch.no_grad():
            for t in range(max(steps)):
                going = [n for n in range(len(walks)) if t < steps[n // samples]]
                self._step(
                    [walks[n] for n in going],
                    samples,
                    sampler,
                    None
                    if forced is None
                    else forced.reshape(len(walks), -1, forced.shape[3])[going, t],
                )
                score(
                    [walks[n] for n in going],
                    t + 1,
                    samples,
                    [evaluators[n // samples] for n in going[::samples]],
                )
        self.watch(walks)
        return self._trajectories(record, len(batch), operators)

    def evaluate(self, batch: HsdagBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`.

        Groups and features stay those of the trajectories.
        """
        record = trajectories.record
        assert isinstance(record, Record), "trajectories must be this policy's own"
        return self._trajectories(record, len(batch), trajectories.placements.shape[2])

    def _seed(self, sampler: Sampler) -> int:
        """Return the seed of dropout, which only training needs."""
        if not self.config.dropout or sampler.generator is None:
            return 0
        return int(torch.randint(2**31, (1,), generator=sampler.generator))

    def _step(
        self, walks: Sequence[Walk], samples: int, sampler: Sampler, forced: Ints | None
    ) -> None:
        """Take a step of some walks, all samples of a problem together.

        Parameters
        ----------
        forced
            (R, A) devices of operators to take instead of chosen ones; -1 where the policy chooses.
        """
        ones = [walk.one for walk in walks]
        graph = joined([one.graph for one in ones])
        features = torch.from_numpy(np.concatenate([walk.features for walk in walks]))
        least = np.array([one.least for one in ones], np.int32)
        parsed = self.network(features, graph, least, _kept)
        parts = parted(parsed.levels, graph.sizes)
        offers = [Offer(one, composed(levels)) for one, levels in zip(ones, parts, strict=True)]
        vectors = torch.split(parsed.vectors, [offer.count for offer in offers])
        draws = drawn(offers, samples, sampler)
        for row, (walk, offer) in enumerate(zip(walks, offers, strict=True)):
            chosen = np.full(offer.count, -1, np.int32)
            if forced is not None:
                chosen[:] = forced[row, offer.first_operators]
            loads = self.head.decide(vectors[row], offer, draws[row], chosen)
            step = Step(walk.features, parts[row], offer, chosen, loads)
            walk.act(step, vectors[row].numpy() if self.config.updates else None)

    def _trajectories(self, record: Record, problems: int, operators: int) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        made: list[Any] = []
        for number, steps in enumerate(_chunks(record.walks)):
            compute = partial(self._scores, steps, record.seed + number)
            made.append(checkpoint(compute, use_reentrant=False) if number else compute())
        log_prob, entropy = (torch.cat(parts) for parts in zip(*made, strict=True))
        return trajectories_of(record, problems, operators, log_prob, entropy)

    def _scores(self, steps: Sequence[tuple[Walk, Step]], seed: int) -> tuple[Tensor, Tensor]:
        """Return the log-probability and the entropy of the device of each group, (N,) each."""
        offers = [step.offer for _, step in steps]
        graph = joined([walk.one.graph for walk, _ in steps])
        features = torch.from_numpy(np.concatenate([step.features for _, step in steps]))
        levels = [
            joined_groups([step.levels[level] for _, step in steps])
            for level in range(self.config.levels)
        ]
        parsed = self.network(features, graph, np.zeros(0, np.int32), self._drop(seed), levels)
        devices = max(offer.allowed.shape[1] for offer in offers)
        allowed, loads = (
            torch.from_numpy(np.concatenate([padded(part, devices) for part in parts]))
            for parts in ([o.allowed for o in offers], [step.loads for _, step in steps])
        )
        logits = self.head.logits(parsed.vectors, loads).masked_fill(~allowed, UNAVAILABLE)
        return of_choices(logits, np.concatenate([step.chosen for _, step in steps]))

    def _drop(self, seed: int) -> Drop:
        """Return dropout with a seed; nothing is dropped where no gradients are computed."""
        share = self.config.dropout
        if not (share and self.training and torch.is_grad_enabled()):
            return _kept
        generator = torch.Generator().manual_seed(seed)

        def dropped(values: Tensor) -> Tensor:
            is_kept = torch.rand(values.shape, generator=generator) >= share
            return values * is_kept / (1.0 - share)

        return dropped


def _kept(values: Tensor) -> Tensor:
    return values


def _ignored(walks: Sequence[Walk]) -> None:
    pass


def _chunks(walks: Sequence[Walk]) -> Iterator[list[tuple[Walk, Step]]]:
    """Yield the steps of walks in parts of at most `VERTICES` vertices, or of one step."""
    part: list[tuple[Walk, Step]] = []
    vertices = 0
    for walk in walks:
        own = walk.one.graph.vertices
        for step in walk.steps:
            if part and vertices + own > VERTICES:
                yield part
                part, vertices = [], 0
            part.append((walk, step))
            vertices += own
    yield part
