"""Episodes of policies that refine placements, each from the best placement so far."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import Batch
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints


def refine_problems(
    policy: Refiner[Any, Any],
    batch: Batch,
    starts: Sequence[Placement],
    samplers: Sequence[Sampler],
    samples: int = 1,
) -> Ints:
    """Return the best placement of each problem, (P, V); -1 beyond its number of operators.

    Parameters
    ----------
    starts
        (P,) placements to start from; those that violate constraints are repaired.
    samplers
        The rule of each episode. Every episode starts from the best placement so far.
    samples
        Number of samples per problem and episode.

    Raises
    ------
    PlacementError
        If a placement to start from cannot be repaired.
    """
    best = np.full((len(batch), int(batch.sizes[0])), -1, dtype=np.int32)
    for p, (one, start) in enumerate(zip(batch.encoded, starts, strict=True)):
        best[p, : one.size] = feasible(one.problem, start.devices).devices
    steps = [policy.episode(one) for one in batch.encoded]
    evaluators = [evaluator(one.problem) for one in batch.encoded]
    for sampler in samplers:
        rows = np.repeat(best[:, None], samples, axis=1)
        made = policy.refine(batch, rows, steps, sampler, evaluators)
        assert made.losses is not None, "refiners return losses"
        assert made.best is not None, "and the best placements"
        which = np.nanmin(made.losses, axis=2).argmin(axis=1)
        best = made.best[np.arange(len(batch)), which]
    return best


def refined_from(
    policy: Refiner[Any, Any],
    batch: Batch,
    start: Placement,
    episodes: int,
    samples: int,
    seed: int,
) -> Ints:
    """Return the best placement, (V,), of a problem; the first episode is the most likely one."""
    generator = torch.Generator().manual_seed(seed)
    samplers = [Sampler(generator, first_is_likeliest=number == 0) for number in range(episodes)]
    best: Ints = refine_problems(policy, batch, [start], samplers, samples)[0]
    return best
