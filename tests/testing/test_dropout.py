"""The checks that concern randomness, applied to a policy with dropout."""

import pytest
import torch
from torch import nn

from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from streamplace.testing import CHECKS
from tests.support.defects.case import case_of


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
