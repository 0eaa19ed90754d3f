"""Layers of the network: perceptrons, graph convolutions, and pooling of groups."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from streamplace.policy.hsdag.smoothing import Smooth, Weights

Drop: TypeAlias = Callable[[Tensor], Tensor]
"""Sets some values to 0 (dropout), or none."""


class Block(nn.Module):
    """A linear layer, layer normalisation, ReLU and dropout."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.norm = nn.LayerNorm(outputs)

    def forward(self, values: Tensor, drop: Drop) -> Tensor:
        """Return (n, outputs) from (n, inputs)."""
        return drop(torch.relu(self.norm(self.linear(values))))


class Convolution(nn.Module):
    """A graph convolution, Â X W + b (Kipf and Welling 2017); see `smoothing.normalised`."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.linear = nn.Linear(length, length, bias=False)
        self.bias = nn.Parameter(torch.zeros(length))

    def forward(self, weights: Weights, values: Tensor) -> Tensor:
        """Return (n, H) from (n, H)."""
        smoothed: Tensor = Smooth.apply(weights, self.linear(values))  # type: ignore[no-untyped-call]
        return smoothed + self.bias


class Embedding(nn.Module):
    """Graph convolutions with ReLU and dropout, and the normalised sum of input and output."""

    def __init__(self, length: int, rounds: int) -> None:
        super().__init__()
        self.rounds = nn.ModuleList(Convolution(length) for _ in range(rounds))
        self.norm = nn.LayerNorm(length)

    def forward(self, weights: Weights, values: Tensor, drop: Drop) -> Tensor:
        """Return embeddings, (n, H), from (n, H)."""
        made = values
        for convolution in self.rounds:
            made = drop(torch.relu(convolution(weights, made)))
        summed: Tensor = self.norm(values + made)
        return summed


class EdgeScore(nn.Module):
    """Scores of pairs of neighbours, between 0 and 1.

    s_uv = sigmoid(MLP([z_v ⊙ z_u : log(1 + traffic)])), the traffic only if it `reads_traffic`.
    """

    def __init__(self, length: int, *, reads_traffic: bool) -> None:
        super().__init__()
        self.hidden = Block(length + reads_traffic, length)
        self.score = nn.Linear(length, 1)
        self.reads_traffic = reads_traffic

    def forward(self, values: Tensor, ends: Tensor, traffic: Tensor, drop: Drop) -> Tensor:
        """Return scores, (M,), from embeddings, (n, H), neighbours, (M, 2), and traffic, (M,)."""
        made = values[ends[:, 0]] * values[ends[:, 1]]
        if self.reads_traffic:
            made = torch.cat([made, torch.log1p(traffic).unsqueeze(1)], dim=1)
        return torch.sigmoid(self.score(self.hidden(made, drop))).squeeze(1)


class Pooling(nn.Module):
    """Vectors of groups from those of their members.

    g_v = relu(convolution(h)_v), p_v = norm(g_v + MLP(g_v)), and the vector of a group is
    MLP(Σ_v p_v) times the mean score of its inner edges and times their number; a group without
    inner edges keeps MLP(Σ_v p_v). An edge counts in both directions. The factor is what gives
    scores a gradient.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
        self.convolution = Convolution(length)
        self.before = nn.Sequential(nn.Linear(length, length), nn.ReLU(), nn.Linear(length, length))
        self.norm = nn.LayerNorm(length)
        self.after = nn.Sequential(nn.Linear(length, length), nn.ReLU(), nn.Linear(length, length))

    def forward(
        self, weights: Weights, values: Tensor, group_of: Tensor, groups: int, inner: "Inner"
    ) -> Tensor:
        """Return the vectors of groups, (G, H), from those of vertices, (n, H)."""
        made = torch.relu(self.convolution(weights, values))
        made = self.norm(made + self.before(made))
        summed = made.new_zeros(groups, made.shape[1]).index_add(0, group_of, made)
        factor: Tensor = inner.factor(groups)
        pooled: Tensor = self.after(summed) * factor.unsqueeze(1)
        return pooled


class Inner:
    """The edges within groups.

    Parameters
    ----------
    group_of
        (M',) the group of each edge.
    scores
        (M',) their scores.
    """

    def __init__(self, group_of: Tensor, scores: Tensor) -> None:
        self.group_of, self.scores = group_of, scores

    def factor(self, groups: int) -> Tensor:
        """Return the factor of each group, (G,): twice the sum of its scores, or 1."""
        sums = self.scores.new_zeros(groups).index_add(0, self.group_of, 2.0 * self.scores)
        counts = torch.bincount(self.group_of, minlength=groups)
        return torch.where(counts > 0, sums, 1.0)
