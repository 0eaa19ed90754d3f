"""REINFORCE (Williams 1992) as pure functions from rewards to a loss."""

from torch import Tensor

MIN_SPREAD = 1e-3  # added to standard deviations before dividing by them


def advantages(reward: Tensor, counted: Tensor, normalise: bool) -> Tensor:
    """Return each sample's reward minus its problem's mean reward, (P, S).

    Parameters
    ----------
    reward
        (P, S) rewards of S samples of each of P problems.
    counted
        (P, S) bool: which samples exist; the others have advantage 0.
    normalise
        Whether to divide by the standard deviation.
    """
    weight = counted.to(reward.dtype)
    count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
    above = (reward - (reward * weight).sum(dim=1, keepdim=True) / count) * weight
    if not normalise:
        return above
    spread = ((above**2).sum(dim=1, keepdim=True) / count).sqrt()
    return above / (spread + MIN_SPREAD)


def policy_loss(log_probability: Tensor, advantage: Tensor, counted: Tensor) -> Tensor:
    """Return the loss of each problem, (P,): -mean(advantage · log π).

    Its gradient is the REINFORCE estimator, with the sign for minimisation.
    """
    weight = counted.to(log_probability.dtype)
    count = weight.sum(dim=1).clamp(min=1.0)
    return -(advantage * log_probability * weight).sum(dim=1) / count
