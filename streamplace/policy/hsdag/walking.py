"""Walks: sequences of placements, each made from groups of the features that the last one left."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.policy.hsdag.features import EncodedProblem
from streamplace.policy.hsdag.kernels.loads import Single
from streamplace.policy.hsdag.network import composed
from streamplace.policy.hsdag.offers import Offer
from streamplace.policy.trajectories import Trajectories
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Floats, Ints


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
class Walk:
    """The T steps of one sample.

    Attributes
    ----------
    features
        (n, d) the features of the vertices after the steps so far.
    devices
        (T + 1, V) the placement before each step, and at the end.
    losses
        (T + 1,) their losses.
    """

    one: EncodedProblem
    features: Single
    devices: Ints
    losses: Floats
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


def walk_from(one: EncodedProblem, start: Ints, steps: int) -> Walk:
    """Return a walk of T steps that begins with a placement, (V,), repaired where it must be."""
    devices = np.zeros((steps + 1, one.size), np.int32)
    devices[0] = feasible(one.problem, start.astype(np.int32)).devices
    return Walk(one, one.features, devices, np.zeros(steps + 1))


def score(walks: Sequence[Walk], t: int, samples: int, evaluators: Sequence[Evaluator]) -> None:
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

    walks: Sequence[Walk]
    parts: int
    seed: int


def trajectories_of(
    record: Record, problems: int, operators: int, log_prob: Tensor, entropy: Tensor
) -> Trajectories:
    """Return walks as trajectories.

    Part v of an action is the device of operator v. The probability of the device of a group is
    that of its first operator, and its other operators have log-probability and entropy 0.

    Parameters
    ----------
    operators
        V, the number of operators of the largest problem.
    log_prob, entropy
        (N,) values of all groups of all steps of all walks. N is the sum of their numbers.
    """
    walks, parts = record.walks, record.parts
    lengths = np.array([len(walk.steps) for walk in walks])
    steps = int(lengths.max())
    actions = np.full((len(walks), steps, parts), -1, np.int64)
    losses = np.full((len(walks), steps + 1), np.nan)
    placements, best = np.full((2, len(walks), operators), -1, np.int32)
    places = []
    for n, walk in enumerate(walks):
        size = walk.one.size
        for t, step in enumerate(walk.steps):
            actions[n, t, :size] = step.offer.expanded(step.chosen)
            places.append((n * steps + t) * parts + step.offer.first_operators)
        losses[n, : len(walk.losses)] = walk.losses
        placements[n, :size] = walk.devices[-1]
        best[n, :size] = walk.devices[int(walk.losses.argmin())]
    where = torch.from_numpy(np.concatenate(places).astype(np.int64))
    shape = (problems, len(walks) // problems)

    def spread(values: Tensor) -> Tensor:
        """Return values of groups, (N,), as (P, S, T, A)."""
        empty = torch.zeros(actions.size, dtype=values.dtype)
        return empty.index_put((where,), values).view(*shape, steps, parts)

    return Trajectories(
        actions=torch.from_numpy(actions).view(*shape, steps, parts),
        log_prob=spread(log_prob),
        entropy=spread(entropy),
        mask=torch.from_numpy(np.arange(steps) < lengths[:, None]).view(*shape, steps),
        placements=placements.reshape(*shape, operators),
        losses=losses.reshape(*shape, steps + 1),
        best=best.reshape(*shape, operators),
        record=record,
    )
