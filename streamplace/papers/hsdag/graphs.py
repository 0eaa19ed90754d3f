"""Graphs as the network reads them, and the layers that read them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.papers.hsdag.kernels import Successors, Weights, smoothed
from streamplace.problem.grouping import Grouping
from streamplace.sim.columns import by_operator
from streamplace.util.arrays import SMALLEST_NORMAL, Floats, Ints

Drop: TypeAlias = Callable[[Tensor], Tensor]
"""Sets some values to 0 (dropout), or none."""

LEAST_TRAFFIC = 1e-3  # relative to the mean edge; all lighter edges count nearly the same


@dataclass(frozen=True, eq=False)
class Graph:
    """K graphs with n vertices and M pairs of neighbours in total, end to end.

    Attributes
    ----------
    sizes
        (K,) numbers of vertices.
    ends
        (M, 2) int32 neighbours, each pair once, the lower index first.
    pairs
        (M,) number of pairs of a graph's own vertices that a pair of their groups stands for.
    traffic
        (M,) what these edges carry, relative to the mean edge of the problem.
    directed
        (E, 2) int32 edges.
    weight
        (n,) cost of each vertex on an average device, in units of what a device has if all work is
        shared evenly.
    """

    sizes: Ints
    ends: Ints
    pairs: Floats
    traffic: Floats
    directed: Ints
    weight: Floats

    @property
    def vertices(self) -> int:
        """The number of vertices, n."""
        return int(self.sizes.sum())

    @cached_property
    def graph_of(self) -> Ints:
        """(n,) the graph of each vertex."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    @cached_property
    def successors(self) -> Successors:
        """The directed edges by their source."""
        first, order = by_operator(self.directed[:, 0], self.vertices)
        return Successors(first, np.ascontiguousarray(self.directed[order, 1]))

    def quotient(self, group_of: Ints) -> "Graph":
        """Return the graphs of groups of their vertices, (n,), numbered graph by graph."""
        groups = int(group_of.max()) + 1
        first = np.unique(group_of, return_index=True)[1]
        sizes = np.bincount(self.graph_of[first], minlength=len(self.sizes)).astype(np.int32)
        ends = group_of[self.directed].astype(np.int32)
        weight = np.bincount(group_of, self.weight, groups).astype(np.float64)
        return _graph(sizes, weight, group_of[self.ends], self.pairs, self.traffic, ends)


def graph_of_grouping(grouping: Grouping, weight: Floats, ends: Ints, traffic: Floats) -> Graph:
    """Return the quotient graph of a grouping.

    Parameters
    ----------
    weight
        (G,) weight of each group, see `Graph`.
    ends
        (E, 2) operators at the ends of each stream.
    traffic
        (E,) what each stream carries.
    """
    between = grouping.group_of[ends].reshape(-1, 2)
    sizes = np.array([grouping.count], np.int32)
    single = np.ones(len(ends))
    made = _graph(sizes, weight, between, single, relative(traffic), between)
    return replace(made, pairs=np.ones(len(made.ends)))


def _graph(
    sizes: Ints, weight: Floats, ends: Ints, pairs: Floats, traffic: Floats, directed: Ints
) -> Graph:
    """Return a graph with the pairs joined that have the same ends, without loops."""
    low, high, vertices = ends.min(axis=1).astype(np.int64), ends.max(axis=1), len(weight)
    between = low != high
    code, which = np.unique(low[between] * vertices + high[between], return_inverse=True)
    which = which.reshape(-1)
    both = np.stack(np.divmod(code, vertices), axis=1).astype(np.int32)
    stood_for, carried = (
        np.bincount(which, x[between], len(code)).astype(np.float64) for x in (pairs, traffic)
    )
    arrows = directed[directed[:, 0] != directed[:, 1]]
    directed = np.ascontiguousarray(arrows, np.int32)
    return Graph(sizes, both, stood_for, carried, directed, weight)


def relative(values: Floats) -> Floats:
    """Return values, (N,), divided by their mean, or zeros if it is below all normal numbers.

    Older numpy warns of an overflow where it divides by such a number.
    """
    mean = float(values.mean()) if len(values) else 0.0
    return values / mean if mean >= SMALLEST_NORMAL else np.zeros(len(values))


def disjoint_union(graphs: Sequence[Graph]) -> Graph:
    """Return graphs as one, end to end."""
    starts = starts_of([graph.vertices for graph in graphs])
    return Graph(
        np.concatenate([graph.sizes for graph in graphs]),
        _shifted([graph.ends for graph in graphs], starts),
        np.concatenate([graph.pairs for graph in graphs]),
        np.concatenate([graph.traffic for graph in graphs]),
        _shifted([graph.directed for graph in graphs], starts),
        np.concatenate([graph.weight for graph in graphs]),
    )


def joined_groups(groups: Sequence[Ints]) -> Ints:
    """Return the groups of several graphs' vertices as numbers of one sequence."""
    return _shifted(groups, starts_of([int(one.max()) + 1 for one in groups]))


def starts_of(counts: Sequence[int]) -> Ints:
    """Return where each of several parts begins, one after the other."""
    return np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int32)


def _shifted(columns: Sequence[Ints], starts: Ints) -> Ints:
    parts = [column + start for column, start in zip(columns, starts, strict=True)]
    return np.concatenate(parts).astype(np.int32)


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
    """A graph convolution, Â X W + b (Kipf and Welling 2017); see `normalised`."""

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
