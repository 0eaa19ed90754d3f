"""REINFORCE per step as in HSDAG: rewards relative to the start, and several steps of Adam."""

import numpy as np

from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.training.algorithms.step_reinforce import StepReinforce
from streamplace.papers.hsdag.stage import HsdagStage
from streamplace.util.arrays import Floats, Ints


class HsdagReinforce(StepReinforce[HsdagStage]):
    """The training of HSDAG (Duan et al. 2024); see `HsdagStage`."""

    @property
    def updates(self) -> int:
        """The number of steps of the optimiser that learn from the same episodes."""
        return self.stage.optimiser_steps

    def step_rewards(self, made: Trajectories) -> Floats:
        """Return the reward of each step, (P, S, T); see `StepReinforce.step_rewards`."""
        kind = self.stage.step_reward
        if kind not in ("above-start", "ratio"):
            return super().step_rewards(made)
        logs = self.logs_of(made)
        above = logs[:, :, :1] - logs[:, :, 1:]  # of the start over those after each step
        return np.where(made.mask.cpu().numpy(), np.exp(above) if kind == "ratio" else above, 0.0)

    def returns(self, rewards: Floats, steps: Ints) -> Floats:
        """Return the return of each step, (P, S, T); see `StepReinforce.returns`."""
        if self.stage.returns == "to-go":
            return super().returns(rewards, steps)
        left = np.maximum(steps[:, None] - 1 - np.arange(rewards.shape[2]), 0)
        weighted = rewards * (self.stage.discount**left)[:, None]
        return np.broadcast_to(weighted.sum(axis=2, keepdims=True), rewards.shape)
