"""Smoothing over the neighbours of vertices, the sparse part of graph convolutions."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sim.columns import by_operator
from streamplace.policy.hsdag.graphs import Graph
from streamplace.policy.hsdag.kernels.products import Weights, smoothed


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
