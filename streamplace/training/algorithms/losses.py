"""REINFORCE (Williams 1992) as pure functions: rewards in, a loss out."""

from torch import Tensor

LEAST_SPREAD = 1e-3


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
