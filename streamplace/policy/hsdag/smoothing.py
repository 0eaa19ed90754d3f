"""Smoothing over the neighbours of vertices, the sparse part of graph convolutions."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.columns import by_operator
from sim.flow import Ints
from sim.jit import kernel
from streamplace.policy.hsdag.graphs import Graph

Single = NDArray[np.float32]


class Weights(NamedTuple):
    """A symmetric matrix by rows; the diagonal is apart."""

    own: Single  # (n,) the diagonal
    first: Ints  # (n + 1,) index of each row's first entry
    other: Ints  # (2M,) column of each entry
    weight: Single  # (2M,)


@kernel
def smoothed(weights: Weights, values: Single) -> Single:
    """Return the product of a matrix, (n, n), with values, (n, H)."""
    n, length = values.shape
    result = np.empty((n, length), np.float32)
    for v in range(n):
        for k in range(length):
            result[v, k] = weights.own[v] * values[v, k]
        for i in range(weights.first[v], weights.first[v + 1]):
            weight, other = weights.weight[i], weights.other[i]
            for k in range(length):
                result[v, k] += weight * values[other, k]
    return result


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
