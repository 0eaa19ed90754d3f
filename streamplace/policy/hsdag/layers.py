"""Layers of the network: perceptrons, graph convolutions, and pooling of groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from sim.columns import by_operator
from streamplace.policy.hsdag.graphs import Graph
from streamplace.policy.hsdag.kernels.products import Weights, smoothed

Drop: TypeAlias = Callable[[Tensor], Tensor]
"""Sets some values to 0 (dropout), or none."""
LEAST_TRAFFIC = 1e-3  # relative to the mean edge; all lighter edges count nearly the same


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

    s_uv = sigmoid(MLP(z_v ⊙ z_u)). With traffic t, if it `reads_traffic`, s_uv =
    sigmoid(MLP([z_v ⊙ z_u : log(1 + t)]) + log t), so that an untrained network joins vertices
    along heavy edges.
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
        logits = self.score(self.hidden(made, drop)).squeeze(1)
        if self.reads_traffic:
            logits = logits + torch.log(traffic + LEAST_TRAFFIC)
        return torch.sigmoid(logits)


class Pooling(nn.Module):
    """Vectors of groups from those of their members.

    g_v = relu(convolution(h)_v), p_v = norm(g_v + MLP(g_v)), and the vector of a group is
    MLP(mean_v p_v) times the mean score of its inner edges; a group without inner edges keeps
    MLP(p_v). The factor is what gives scores a gradient.

    Parameters
    ----------
    sums
        As published: the sum over the members instead of the mean, times the number of inner edges
        as well, where each edge counts in both directions.
    """

    def __init__(self, length: int, *, sums: bool) -> None:
        super().__init__()
        self.sums = sums
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
        pooled = made.new_zeros(groups, made.shape[1]).index_add(0, group_of, made)
        if not self.sums:
            pooled = pooled / torch.bincount(group_of, minlength=groups).unsqueeze(1)
        vectors: Tensor = self.after(pooled) * inner.factors(groups, self.sums).unsqueeze(1)
        return vectors


@dataclass(frozen=True, eq=False)
class Inner:
    """The edges within groups.

    Attributes
    ----------
    group_of
        (M',) the group of each edge.
    scores
        (M',) their scores.
    """

    group_of: Tensor
    scores: Tensor

    def factors(self, groups: int, sums: bool) -> Tensor:
        """Return the factors of groups, (G,): mean scores, or twice their sums; 1 without edges."""
        total = self.scores.new_zeros(groups).index_add(0, self.group_of, self.scores)
        counts = torch.bincount(self.group_of, minlength=groups)
        made = 2.0 * total if sums else total / counts.clamp(min=1)
        return torch.where(counts > 0, made, 1.0)


class Smooth(torch.autograd.Function):
    """The product of a symmetric matrix with values; see `smoothed`."""

    @staticmethod
    def forward(ctx: Any, weights: Weights, values: Tensor) -> Tensor:
        """Return the product, (n, H)."""
        ctx.weights = weights
        return torch.from_numpy(smoothed(weights, values.detach().contiguous().numpy()))

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> tuple[None, Tensor]:
        """Return the gradient of the values; the matrix is its own transpose."""
        change = changes[0].contiguous().numpy()
        return None, torch.from_numpy(smoothed(ctx.weights, change))


def normalised(graph: Graph) -> Weights:
    """Return the matrix of graph convolutions, D^-1/2 (A + I) D^-1/2 (Kipf and Welling 2017).

    A is the adjacency matrix without directions, weighted by the pairs that each edge stands for,
    and D the diagonal matrix of the sums of the rows of A + I.
    """
    both = np.concatenate([graph.ends, graph.ends[:, ::-1]])
    first, order = by_operator(both[:, 0], graph.vertices)
    twice = np.concatenate([graph.pairs, graph.pairs])
    degree = 1.0 + np.bincount(both[:, 0], twice, graph.vertices)
    weight = twice / np.sqrt(degree[both[:, 0]] * degree[both[:, 1]])
    return Weights(
        own=(1.0 / degree).astype(np.float32),
        first=first,
        other=np.ascontiguousarray(both[order, 1], np.int32),
        weight=weight[order].astype(np.float32),
    )
