"""REINFORCE per step as in GiPH: baselines of the rewards so far, and a discounted gradient."""

import numpy as np

from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.training.algorithms.step_reinforce import StepReinforce
from streamplace.papers.giph.stage import GiphStage
from streamplace.util.arrays import Floats, Ints


class GiphReinforce(StepReinforce[GiphStage]):
    """The training of GiPH (Hu et al. 2023); see `GiphStage`."""

    def advantages(self, numbers: list[int], made: Trajectories) -> Floats:
        """Return the advantage of each step, (P, S, T); see `StepReinforce.advantages`."""
        advantages = super().advantages(numbers, made)
        if self.stage.discounts_gradient:
            advantages *= self.stage.discount ** np.arange(advantages.shape[2])
        return advantages

    def baseline(self, numbers: list[int], rewards: Floats, returns: Floats, steps: Ints) -> Floats:
        """Return what is subtracted from each return; see `StepReinforce.baseline`."""
        kind = self.stage.baseline
        if kind in ("steps", "earlier-steps"):
            return mean_rewards(rewards, own=kind == "steps")
        return super().baseline(numbers, rewards, returns, steps)


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
