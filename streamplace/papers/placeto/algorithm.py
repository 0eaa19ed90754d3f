"""REINFORCE per step as in Placeto and its study: a penalty for memory, and a fault of its code."""

from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.training.algorithms.step_reinforce import StepReinforce
from streamplace.papers.placeto.peak_memory import penalised
from streamplace.papers.placeto.stage import PlacetoStage
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Floats


class PlacetoReinforce(StepReinforce[PlacetoStage]):
    """The training of Placeto (Addanki et al. 2019); see `PlacetoStage`."""

    def simulated(self, number: int) -> Evaluator:
        """Return the evaluator of a problem, with the stage's penalty for memory."""
        stage = self.stage
        return penalised(super().simulated(number), stage.memory_penalty, stage.memory_limit_gb)

    def step_rewards(self, made: Trajectories) -> Floats:
        """Return the reward of each step, (P, S, T); see `StepReinforce.step_rewards`."""
        rewards = super().step_rewards(made)
        return -rewards if self.stage.reversed_rewards else rewards
