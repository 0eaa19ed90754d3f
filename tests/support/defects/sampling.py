"""Defects found by the check of sampling."""

from dataclasses import replace

import torch

from streamplace.learning.policy.decoding import Sampler
from tests.support.defects.altered import Altered, Defect


class IgnoresSampler(Altered):
    """A policy that ignores the sampler."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Choose the most likely devices."""
        return Sampler()


class IgnoresSeeds(Altered):
    """A policy that always samples from the same seed."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Restart the generator."""
        return replace(sampler, generator=sampler.generator and torch.Generator().manual_seed(0))


class IgnoresTemperature(Altered):
    """A policy that samples at a fixed temperature."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Set the temperature to 1."""
        return replace(sampler, temperature=1.0)


class NeverExplores(Altered):
    """A policy that does not explore."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Set the exploration to 0."""
        return replace(sampler, exploration=0.0)


DEFECTS: list[Defect] = [
    (IgnoresSampler, "sampling", "times in 1000 draws"),
    (IgnoresSeeds, "sampling", "different seeds give the same samples"),
    (IgnoresTemperature, "sampling", "samples at temperature"),
    (NeverExplores, "sampling", "samples with exploration=1"),
]
