"""Walks as trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.hsdag.walking import Walk
from streamplace.policy.trajectories import Trajectories


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
