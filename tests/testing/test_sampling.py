"""The check of sampling with many placements, and checks of a policy with dropout."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch import nn

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from streamplace.testing import CHECKS, PolicyCase
from streamplace.testing.sampling import DRAWS, check_sampling, chernoff_exponents
from tests.support.defects import sampling
from tests.support.defects.altered import Altered
from tests.support.defects.case import case_of


class SamplesColder(Altered):
    """A policy that samples at half the temperature."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Halve the temperature."""
        return replace(sampler, temperature=0.5 * sampler.temperature)


class ExploresLess(Altered):
    """A policy that explores in half of the steps in which it should."""

    def sampler_of(self, sampler: Sampler) -> Sampler:
        """Halve the exploration."""
        return replace(sampler, exploration=0.5 * sampler.exploration)


DEFECTS = [
    *sampling.DEFECTS,
    (SamplesColder, "", "samples make"),
    (ExploresLess, "", "exploration"),
]


@pytest.mark.parametrize("probability", [1e-5, 1e-3, 0.0016, 0.02, 0.5, 0.999])
def test_deviations_are_less_probable_than_stated(probability: float) -> None:
    counts = np.arange(DRAWS + 1)
    bound = np.exp(-chernoff_exponents(counts, np.full(DRAWS + 1, probability)))
    binomial = binom(DRAWS, probability)
    above, below = binomial.sf(counts - 1), binomial.cdf(counts)
    tail = np.where(counts > DRAWS * probability, above, below)
    assert (tail <= bound * (1 + 1e-9)).all()
    assert (bound[tail > 1e-12] <= 100 * tail[tail > 1e-12]).all()


def test_what_a_policy_never_does_must_not_occur() -> None:
    found = chernoff_exponents(np.array([0, 1, DRAWS]), np.array([0.0, 0.0, 1.0]))
    assert found.tolist() == [0.0, np.inf, 0.0]


@pytest.mark.long
@pytest.mark.parametrize(("policy", "fault"), [(policy, fault) for policy, _, fault in DEFECTS])
def test_defects_are_found_among_625_placements(
    policy: type[DeviceScorer], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = replace(case_of(policy, monkeypatch), devices=5)
    with pytest.raises(AssertionError, match=f"^tested: sampling: .*{fault}"):
        check_sampling(case)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_rare_placements_may_occur_by_chance(seed: int) -> None:
    check_sampling(PolicyCase("doppler", devices=5, seed=seed))


class DropsOut(DeviceScorer):
    """A policy with dropout, whose random numbers do not come from the sampler."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Drop a fifth of the embeddings while training."""
        operator, contribution = super().embed(batch)
        return nn.functional.dropout(operator, 0.2, self.training), contribution


@pytest.mark.parametrize("check", ["resuming", "samples", "weights"])
def test_a_policy_with_dropout_passes(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training draws dropout from the seed of each step; placing and validation disable it."""
    CHECKS[check](case_of(DropsOut, monkeypatch))
