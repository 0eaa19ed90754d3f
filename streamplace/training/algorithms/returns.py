"""Returns: sums of the rewards of an episode that weight the log-probability of each step."""

import numpy as np

from streamplace.util.arrays import Floats, Ints


def returns_of(rewards: Floats, steps: Ints, discount: float, kind: str) -> Floats:
    """Return the return of each step, (P, S, T).

    Parameters
    ----------
    rewards
        The reward of each step, (P, S, T); 0 beyond a problem's last step.
    steps
        The number of steps of each problem, (P,).
    kind
        See `StepReinforceStage.returns`.
    """
    # sums from the first step on, listed from the last one on, are sums of reversed rewards
    sums = _reversed(rewards, steps) if kind == "misordered" else rewards.copy()
    for t in range(sums.shape[2] - 2, -1, -1):
        sums[:, :, t] += discount * sums[:, :, t + 1]
    if kind == "episode":
        sums[:] = sums[:, :, :1]
    return sums


def mean_rewards(rewards: Floats, *, own: bool) -> Floats:
    """Return the mean reward of an episode's steps up to each one, (P, S, T).

    Parameters
    ----------
    own
        Include the step itself. Otherwise the mean is 0 at the first step.
    """
    sums, count = np.cumsum(rewards, axis=2), np.arange(rewards.shape[2])
    if own:
        return sums / (count + 1)
    return (sums - rewards) / np.maximum(count, 1)


def _reversed(rewards: Floats, steps: Ints) -> Floats:
    """Return the rewards of each episode from its last step to its first."""
    found = rewards.copy()
    for p, count in enumerate(steps):
        found[p, :, :count] = rewards[p, :, :count][:, ::-1]
    return found
