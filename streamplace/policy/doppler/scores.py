"""z-scores of values in segments, and the layers that all of DOPPLER's networks share."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from streamplace.policy.doppler.passing import SLOPE

TINY = 1e-3
"""Deviations that count as none: sums of equal embeddings differ by rounding."""


def among(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return values, (N, …), relative to those of their segment: (x - mean) / √(variance + ε²).

    Parameters
    ----------
    segment
        (N,) the segment of each row, from 0 to `segments` - 1.
    """
    count = torch.bincount(segment, minlength=segments).clamp(min=1).to(values.dtype)
    count = count.view(-1, *[1] * (values.dim() - 1))
    empty = values.new_zeros(segments, *values.shape[1:])
    above = values - (empty.index_add(0, segment, values) / count)[segment]
    variance = empty.index_add(0, segment, above**2) / count
    return above / torch.sqrt(variance + TINY**2)[segment]


def among_columns(values: Tensor, exists: Tensor) -> Tensor:
    """Return values, (N, D, F), relative to those of the other columns that exist, (N, D) bool.

    The formula is that of `among`. Values of columns that do not exist must be 0.
    """
    is_one = exists.unsqueeze(2)
    count = is_one.sum(dim=1, keepdim=True)
    above = (values - values.sum(dim=1, keepdim=True) / count) * is_one
    variance = (above**2).sum(dim=1, keepdim=True) / count
    return above / torch.sqrt(variance + TINY**2)


class Head(nn.Module):
    """A score from four vectors: one hidden layer with a leaky rectifier."""

    def __init__(self, length: int, hidden: int) -> None:
        super().__init__()
        self.mix = orthogonal(nn.Linear(4 * length, hidden))
        self.score = orthogonal(nn.Linear(hidden, 1))

    def forward(self, *vectors: Tensor) -> Tensor:
        """Return scores, (…), from four vectors, (…, L)."""
        hidden = leaky_relu(self.mix(torch.cat(vectors, dim=-1)), SLOPE)
        scored: Tensor = self.score(hidden).squeeze(-1)
        return scored


def orthogonal(layer: nn.Linear) -> nn.Linear:
    """Return a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
