"""Imitation of an expert in the policy's own states (DAgger; Ross, Gordon and Bagnell 2011)."""

import torch
from torch import Tensor

from streamplace.policy.base import constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.teachers import TEACHERS, Teacher
from streamplace.policy.trajectories import summed_over_steps
from streamplace.training.algorithms.base import Algorithm, Record, Step
from streamplace.training.stages import DaggerStage


class Dagger(Algorithm[DaggerStage]):
    """Maximum likelihood of an expert's actions in the states that the policy visits.

    The policy makes the placements. In every state it visits, the expert names the best actions, of
    which several may be equally good, and their log-probability is raised. Placements from earlier
    stages are kept for later ones.
    """

    def loss(self, step: Step, record: Record) -> Tensor:
        """Return the mean negative log-likelihood per decision of the expert's actions."""
        stage, batch = self.stage, self.learner.batch(step.problems)
        _, generator = step.generators()
        exploration = step.between(stage.exploration, stage.final_exploration)
        sampler = Sampler(generator, exploration=exploration, greedy=stage.greedy)
        teacher = Teacher(TEACHERS[stage.teacher], stage.ties)
        policy = constructive(self.learner.policy)
        trajectories = policy.rollout(batch, stage.samples, sampler, teacher=teacher)
        agreement = trajectories.agreement
        assert agreement is not None, "a policy must return the agreement with a teacher"
        record["decisions"] = stage.samples * int(batch.sizes.sum())
        record["entropy"] = float(trajectories.mean_entropy.detach().mean())
        loss = -summed_over_steps(agreement)
        if stage.entropy:
            loss = loss - stage.entropy * summed_over_steps(trajectories.entropy)
        decisions = torch.from_numpy(stage.samples * batch.sizes).to(loss.device, torch.float32)
        return self.combined(loss.sum(dim=1), decisions)
