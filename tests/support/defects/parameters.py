"""Defects found by the checks of gradients, weights and resuming."""

from itertools import count
from typing import Any

import torch

from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.device_scorer.network import DeviceScorer, ScorerBatch
from tests.support.defects.altered import Defect


class Detached(DeviceScorer):
    """A policy that detaches a part of its computation from gradients."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Detach the embeddings that operators add to their devices."""
        operator, contribution = super().embed(batch)
        return operator, contribution.detach()


class HalfTheGradient(DeviceScorer):
    """A policy that loses every second entry of each gradient."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        for parameter in self.parameters():
            parameter.register_hook(_every_second)  # type: ignore[no-untyped-call]


def _every_second(gradient: torch.Tensor) -> torch.Tensor:
    kept = torch.arange(gradient.numel()).view(gradient.shape) % 2
    return gradient * kept


class HiddenState(DeviceScorer):
    """A policy with state that is not a parameter and therefore not in any file."""

    made = count()

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.bias = torch.zeros(64)
        self.bias[next(self.made) % 3] = 50.0  # a reader creates two, which differ

    def logits(
        self, operator: torch.Tensor, resident: torch.Tensor, candidates: torch.Tensor, offered: Any
    ) -> torch.Tensor:
        """Add the state."""
        made = super().logits(operator, resident, candidates, offered)
        return made + self.bias[: made.shape[1]]


class ReadsItsParameters(DeviceScorer):
    """A policy whose constructor reads a number from a parameter."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.start = float(self.score.bias.detach().sum())


class CountsRollouts(DeviceScorer):
    """A policy that counts its rollouts, so that a resumed run differs."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.rollouts = 0

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Shrink embeddings with every call in training mode."""
        operator, contribution = super().embed(batch)
        if self.training:
            self.rollouts += 1
        return operator / (1 + self.rollouts), contribution


DEFECTS: list[Defect] = [
    (Detached, "gradients", "finite differences"),
    (HalfTheGradient, "gradients", "finite differences"),
    (HiddenState, "weights", "places differently"),
    (ReadsItsParameters, "weights", "cannot be read"),
    (CountsRollouts, "resuming", "ends with different parameters"),
]
