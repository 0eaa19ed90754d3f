"""A device scorer whose rollouts and samples can be altered in one method."""

from typing import TypeAlias

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.util.arrays import Ints

Defect: TypeAlias = tuple[type[DeviceScorer], str, str]
"""A defective policy, the check that finds its defect, and a part of the message."""


class Altered(DeviceScorer):
    """A device scorer with hooks for the inputs and the results of rollouts."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Return the sampler to use, for samples too."""
        return sampler

    def forced_of(self, forced: Ints | None) -> Ints | None:
        """Return the forced devices to use."""
        return forced

    def teacher_of(self, teacher: Teacher | None) -> Teacher | None:
        """Return the teacher to use."""
        return teacher

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Return the trajectories that a rollout returns."""
        return made

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Sample with the altered sampler."""
        return super().sample(batch, samples, self.sampler_of(sampler))

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Roll out with altered inputs, and alter the result."""
        sampler, forced = self.sampler_of(sampler), self.forced_of(forced)
        made = super().rollout(batch, samples, sampler, forced, self.teacher_of(teacher))
        return self.result_of(made, batch)
