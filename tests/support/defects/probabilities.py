"""Defects found by the checks of probabilities and entropies."""

from dataclasses import replace

import torch

from streamplace.learning.policy.device_scorer.network import ScorerBatch
from streamplace.learning.policy.trajectories import Trajectories
from tests.support.defects.altered import Altered, Defect


class HalvesLogProbabilities(Altered):
    """A policy whose probabilities do not add up to 1."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Halve every log-probability."""
        return replace(made, log_prob=made.log_prob / 2)


class ConstantEntropy(Altered):
    """A policy that reports an entropy of 1 everywhere."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Set every entropy to 1."""
        return replace(made, entropy=torch.ones_like(made.entropy))


DEFECTS: list[Defect] = [
    (HalvesLogProbabilities, "probabilities", "add up to"),
    (ConstantEntropy, "entropy", "nats on average"),
]
