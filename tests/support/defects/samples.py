"""Defects found by the checks of samples and batches."""

from dataclasses import replace

import numpy as np
import torch

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.util.arrays import Ints
from tests.support.defects.altered import Altered, Defect


class IgnoresGenerator(DeviceScorer):
    """A policy that samples from torch's global generator."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Replace the sampler's generator."""
        return super().sample(batch, samples, Sampler(torch.default_generator))


class SamplesOneDevice(DeviceScorer):
    """A policy whose samples differ from those of its rollouts."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place every operator on the first device."""
        return np.minimum(super().sample(batch, samples, sampler), 0)


class CountsFromOne(DeviceScorer):
    """A policy that places operators on a device that the cluster lacks."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Number devices from 1."""
        made = super().sample(batch, samples, sampler)
        return np.where(made >= 0, made + 1, made)


class MixesProblems(DeviceScorer):
    """A policy whose embeddings depend on the other problems of the batch."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Subtract the mean over the batch."""
        operator, contribution = super().embed(batch)
        return operator - operator.mean(dim=0), contribution


class IgnoresForced(Altered):
    """A policy that ignores forced devices."""

    def forced_of(self, forced: Ints | None) -> Ints | None:
        """Force no devices."""
        return None


class EvaluatesHalf(DeviceScorer):
    """A policy that evaluates actions with half their log-probabilities."""

    def evaluate(self, batch: ScorerBatch, trajectories: Trajectories) -> Trajectories:
        """Halve every log-probability."""
        made = super().evaluate(batch, trajectories)
        return replace(made, log_prob=made.log_prob / 2)


DEFECTS: list[Defect] = [
    (IgnoresGenerator, "samples", "the same seed gives different samples"),
    (SamplesOneDevice, "samples", r"sample\(\) and rollout\(\) differ"),
    (CountsFromOne, "samples", "devices must be 0 to 2"),
    (MixesProblems, "batches", "alone and in a batch differ"),
    (IgnoresForced, "batches", "does not return the forced placement"),
    (EvaluatesHalf, "evaluate", "log-probabilities of steps differ"),
]
