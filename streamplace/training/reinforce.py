"""REINFORCE (Williams 1992) as pure functions: rewards in, a loss out."""

import numpy as np
from torch import Tensor

from sim.engine import Settings
from streamplace import runs
from streamplace.arrays import Floats, Ints
from streamplace.policy.features import Prepared
from streamplace.score import bound, throughput

LEAST_SPREAD = 1e-3
OF_ENGINE = Settings(duration_s=30.0, measure_from_s=20.0)  # half of what a score takes


def rewards(prepared: Prepared, placements: Ints, kind: str) -> Floats:
    """Return the reward of each placement, (S,), from device indices, (S, V).

    ``relative`` is relative throughput. ``log`` is log(throughput / bound) with the bound of the
    devices' capacity, at most 0; it tells placements apart wherever the source rate overloads all
    of them, and is the logarithm of the largest utilisation's inverse under ``bottleneck``. The
    engine runs as `OF_ENGINE` tells.

    Raises
    ------
    SimulationError
        If a placement has no score.
    """
    problem = prepared.problem
    if problem.model == "engine":
        reached = runs.throughput(problem, placements, OF_ENGINE)
    else:
        reached = throughput(problem, placements)
    if kind == "relative":
        return reached / problem.source_rate
    return np.log(np.maximum(reached / bound(problem), 1e-9))


def advantages(reward: Tensor, counted: Tensor, normalise: bool) -> Tensor:
    """Return how much better each sample is than its problem's mean, (P, S).

    Parameters
    ----------
    reward
        (P, S)
    counted
        (P, S) bool: which samples there are.
    normalise
        Whether to divide by the standard deviation.
    """
    weight = counted.to(reward.dtype)
    count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
    above = (reward - (reward * weight).sum(dim=1, keepdim=True) / count) * weight
    if not normalise:
        return above
    spread = ((above**2).sum(dim=1, keepdim=True) / count).sqrt()
    return above / (spread + LEAST_SPREAD)


def policy_loss(log_probability: Tensor, advantage: Tensor, counted: Tensor) -> Tensor:
    """Return per problem, (P,), -mean(advantage · log π): its gradient is REINFORCE's."""
    weight = counted.to(log_probability.dtype)
    count = weight.sum(dim=1).clamp(min=1.0)
    return -(advantage * log_probability * weight).sum(dim=1) / count
