"""HSDAG as a policy: groups of operators, and a device for each, again and again; its walks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from streamplace.errors import PlacementError
from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.policy.walks import Recorded, Walks
from streamplace.papers.hsdag.features import (
    HsdagBatch,
    HsdagProblem,
    Offer,
    encode,
    feature_count,
    pad_devices,
    random_numbers,
)
from streamplace.papers.hsdag.graphs import Drop, disjoint_union, joined_groups
from streamplace.papers.hsdag.kernels import Single
from streamplace.papers.hsdag.network import (
    GroupingNetwork,
    Head,
    Independent,
    Loaded,
    composed,
    parted,
)
from streamplace.papers.hsdag.sizes import HsdagSizes
from streamplace.placers.repair import feasible
from streamplace.problem.grouping import Grouping
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

VERTICES = 20_000  # whose probabilities are computed at once, to bound memory


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a walk, and what it takes to compute its probabilities again.

    Attributes
    ----------
    features
        (n, d) the features of the vertices before it.
    levels
        The groups of each level, see `network.Parsed`.
    offer
        The groups and the devices that were offered.
    chosen
        (G,) the device of each group.
    loads
        (G, D, L) what the head read of the devices.
    """

    features: Single
    levels: list[Ints]
    offer: Offer
    chosen: Ints
    loads: Single


@dataclass(eq=False)
class HsdagWalk(Recorded):
    """The T steps of one sample.

    Attributes
    ----------
    one
        The problem.
    features
        (n, d) the features of the vertices after the steps so far.
    steps
        The steps so far.
    """

    one: HsdagProblem
    features: Single
    steps: list[Step] = field(default_factory=list)

    def act(self, step: Step, vectors: Single | None) -> None:
        """Take a step, after which the loss of the placement is still to be set.

        A placement that violates constraints is repaired; where that fails, the placement stays.

        Parameters
        ----------
        vectors
            (G, d) the vectors of the groups, which are added to the features of their vertices;
            None: the features stay.
        """
        self.steps.append(step)
        t = len(self.steps)
        self.devices[t] = self.devices[t - 1]
        with suppress(PlacementError):
            draft = step.offer.expanded(step.chosen)
            self.devices[t] = feasible(self.one.problem, draft).devices
        if vectors is not None:
            self.features = self.features + vectors[composed(step.levels)]


def walk_from(one: HsdagProblem, start: Ints, steps: int) -> HsdagWalk:
    """Return a walk of T steps that begins with a placement, (V,), repaired where it must be."""
    devices = np.zeros((steps + 1, one.size), np.int32)
    devices[0] = feasible(one.problem, start.astype(np.int32)).devices
    return HsdagWalk(devices, np.zeros(steps + 1), one, one.features)


def score(
    walks: Sequence[HsdagWalk], t: int, samples: int, evaluators: Sequence[Evaluator]
) -> None:
    """Set the loss of the placements after t steps.

    Parameters
    ----------
    walks
        The walks of S samples of each problem.
    evaluators
        The evaluator of each problem.
    """
    for p, evaluator in enumerate(evaluators):
        of_problem = walks[p * samples : (p + 1) * samples]
        losses = evaluator.loss(np.stack([walk.devices[t] for walk in of_problem]))
        for walk, loss in zip(of_problem, losses.tolist(), strict=True):
            walk.losses[t] = loss


@dataclass(frozen=True, eq=False)
class Record:
    """What it takes to compute the probabilities of trajectories again.

    Attributes
    ----------
    walks
        The P·S walks, grouped by problem.
    parts
        A, the number of parts of an action: of operators, at least those of the largest problem.
    seed
        The seed of dropout.
    """

    walks: Sequence[HsdagWalk]
    parts: int
    seed: int


def trajectories_of(
    record: Record, problems: int, log_prob: Tensor, entropy: Tensor
) -> Trajectories:
    """Return walks as trajectories.

    Part v of an action is the device of operator v. The probability of the device of a group is
    that of its first operator, and its other operators have log-probability and entropy 0.

    Parameters
    ----------
    log_prob, entropy
        (N,) values of all groups of all steps of all walks. N is the sum of their numbers.
    """
    steps = [(walk, step) for walk in record.walks for step in walk.steps]
    actions = np.full((len(steps), record.parts), -1, np.int64)
    places = []
    for n, (walk, step) in enumerate(steps):
        actions[n, : walk.one.size] = step.offer.expanded(step.chosen)
        places.append(n * record.parts + step.offer.first_operators)
    where = torch.from_numpy(np.concatenate(places).astype(np.int64))

    def of_operators(values: Tensor) -> Tensor:
        """Return values of groups, (N,), by step and operator."""
        empty = torch.zeros(actions.size, dtype=values.dtype)
        return empty.index_put((where,), values).view(actions.shape)

    taken = torch.from_numpy(actions)
    return Trajectories.of_walks(
        record.walks, problems, taken, of_operators(log_prob), of_operators(entropy), record
    )


class Hsdag(Refiner[HsdagProblem, HsdagBatch]):
    """A policy that groups the operators and chooses a device for each group in every step.

    A step makes a whole placement. It depends on the steps before through the features: each step
    adds the vectors of the groups to the features of their vertices, from which the next step makes
    other groups. The placement that an episode starts from is only what rewards compare with.
    """

    relocates = False
    gpu = False  # groups are formed, and streams smoothed, by kernels for the CPU

    watch: Callable[[Sequence[HsdagWalk]], None]
    """Called with the walks of every rollout, for studies of what the policy decides."""

    def __init__(self, sizes: HsdagSizes) -> None:
        super().__init__()
        self.config = sizes
        self.device_count = None if sizes.capacity else sizes.devices
        features = feature_count(sizes)
        self.network = GroupingNetwork(sizes, features)
        self.head: Head = (
            Loaded(features, sizes.hidden)
            if sizes.capacity
            else Independent(features, sizes.hidden, sizes.devices)
        )
        self.watch = _ignored

    def encode(self, problem: Problem) -> HsdagProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config)

    def batch(self, encoded: Sequence[HsdagProblem]) -> HsdagBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return HsdagBatch(encoded)

    def episode(self, encoded: HsdagProblem) -> int:
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
        walks = Walks(batch, start, steps, lambda one, row, count, _: walk_from(one, row, count))
        parts = operators if forced is None else max(operators, forced.shape[3])
        record = Record(walks, parts, self._seed(sampler))
        score(walks, 0, samples, evaluators)
        with torch.no_grad():
            for t, rows in walks.going():
                self._step(
                    [walks[n] for n in rows],
                    samples,
                    sampler,
                    None
                    if forced is None
                    else forced.reshape(len(walks), -1, forced.shape[3])[rows, t],
                )
                score(
                    [walks[n] for n in rows],
                    t + 1,
                    samples,
                    [evaluators[n // samples] for n in rows[::samples]],
                )
        self.watch(walks)
        return self._trajectories(record, len(batch))

    def evaluate(self, batch: HsdagBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`.

        Groups and features stay those of the trajectories.
        """
        record = trajectories.record
        assert isinstance(record, Record), "trajectories must be this policy's own"
        return self._trajectories(record, len(batch))

    def _seed(self, sampler: Sampler) -> int:
        """Return the seed of dropout, which only training needs."""
        if not self.config.dropout or sampler.generator is None:
            return 0
        return int(torch.randint(2**31, (1,), generator=sampler.generator))

    def _step(
        self, walks: Sequence[HsdagWalk], samples: int, sampler: Sampler, forced: Ints | None
    ) -> None:
        """Take a step of some walks, all samples of a problem together.

        Parameters
        ----------
        forced
            (R, A) devices of operators to take instead of chosen ones; -1 where the policy chooses.
        """
        ones = [walk.one for walk in walks]
        graph = disjoint_union([one.graph for one in ones])
        features = torch.from_numpy(np.concatenate([walk.features for walk in walks]))
        least = np.array([one.least for one in ones], np.int32)
        parsed = self.network(features, graph, least, _kept)
        parts = parted(parsed.levels, graph.sizes)
        offers = [Offer(one, composed(levels)) for one, levels in zip(ones, parts, strict=True)]
        vectors = torch.split(parsed.vectors, [offer.count for offer in offers])
        draws = random_numbers(offers, samples, sampler)
        for row, (walk, offer) in enumerate(zip(walks, offers, strict=True)):
            chosen = np.full(offer.count, -1, np.int32)
            if forced is not None:
                chosen[:] = forced[row, offer.first_operators]
            loads = self.head.decide(vectors[row], offer, draws[row], chosen)
            step = Step(walk.features, parts[row], offer, chosen, loads)
            walk.act(step, vectors[row].numpy() if self.config.updates else None)

    def _trajectories(self, record: Record, problems: int) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        made: list[Any] = []
        for number, steps in enumerate(_chunks(record.walks)):
            compute = partial(self._scores, steps, record.seed + number)
            made.append(checkpoint(compute, use_reentrant=False) if number else compute())
        log_prob, entropy = (torch.cat(parts) for parts in zip(*made, strict=True))
        return trajectories_of(record, problems, log_prob, entropy)

    def _scores(self, steps: Sequence[tuple[HsdagWalk, Step]], seed: int) -> tuple[Tensor, Tensor]:
        """Return the log-probability and the entropy of the device of each group, (N,) each."""
        offers = [step.offer for _, step in steps]
        graph = disjoint_union([walk.one.graph for walk, _ in steps])
        features = torch.from_numpy(np.concatenate([step.features for _, step in steps]))
        levels = [
            joined_groups([step.levels[level] for _, step in steps])
            for level in range(self.config.levels)
        ]
        parsed = self.network(features, graph, np.zeros(0, np.int32), self._drop(seed), levels)
        devices = max(offer.allowed.shape[1] for offer in offers)
        allowed, loads = (
            torch.from_numpy(np.concatenate([pad_devices(part, devices) for part in parts]))
            for parts in ([o.allowed for o in offers], [step.loads for _, step in steps])
        )
        logits = self.head.logits(parsed.vectors, loads).masked_fill(~allowed, UNAVAILABLE)
        return Sampler.scores(logits, np.concatenate([step.chosen for _, step in steps]))

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


def _ignored(walks: Sequence[HsdagWalk]) -> None:
    pass


def _chunks(walks: Sequence[HsdagWalk]) -> Iterator[list[tuple[HsdagWalk, Step]]]:
    """Yield the steps of walks in parts of at most `VERTICES` vertices, or of one step."""
    part: list[tuple[HsdagWalk, Step]] = []
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
