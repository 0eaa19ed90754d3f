"""REINFORCE (Williams 1992) as pure functions from rewards to a loss."""

from torch import Tensor

MIN_SPREAD = 1e-3  # added to standard deviations before dividing by them


def advantages(
    reward: Tensor, counted: Tensor, normalise: bool, baseline: Tensor | None = None
) -> Tensor:
    """Return each sample's reward minus its problem's baseline, (P, S).

    Parameters
    ----------
    reward
        (P, S) rewards of S samples of each of P problems.
    counted
        (P, S) bool: which samples exist; the others have advantage 0.
    normalise
        Whether to divide by the root mean square, which is the standard deviation if the baseline
        is the mean.
    baseline
        (P,) the baseline of each problem; None: the mean reward of its samples.
    """
    weight = counted.to(reward.dtype)
    count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
    mean = (reward * weight).sum(dim=1, keepdim=True) / count
    above = (reward - (mean if baseline is None else baseline.unsqueeze(1))) * weight
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
