"""Message passing in topological order as a differentiable function."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.giph.kernels.passing import (
    Direction,
    Layers,
    Passed,
    receive,
    receive_back,
)
from streamplace.policy.giph.kernels.view import View


def along(view: View) -> Direction:
    """Return the pass from sources to sinks."""
    visits = (view.order, view.first, view.first_in, view.inward, view.block)
    return Direction(*visits, view.source, view.target)


def against(view: View) -> Direction:
    """Return the pass from sinks to sources."""
    order = np.ascontiguousarray(view.order[::-1])
    visits = (order, view.first, view.first_out, view.outward, view.block)
    return Direction(*visits, view.target, view.source)


class Pass(torch.autograd.Function):
    """Embeddings after a pass; see `kernels.passing.receive` for the formula and the shapes."""

    @staticmethod
    def forward(ctx: Any, direction: Direction, own: Tensor, *parameters: Tensor) -> Tensor:
        """Return the embeddings, (n, e); the parameters are those of `Layers`."""
        layers = Layers(*(x.detach().contiguous().numpy() for x in parameters))
        (nodes, length), wide = own.shape, layers.terms.shape[1]
        shapes = (length, wide, wide, length)
        result = Passed(*(np.empty((nodes, columns), np.float32) for columns in shapes))
        receive(direction, own.detach().contiguous().numpy(), layers, result)
        ctx.direction, ctx.layers, ctx.result = direction, layers, result
        return torch.from_numpy(result.embedding)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all arguments but the direction."""
        change = changes[0].detach().contiguous().numpy().copy()
        scratch = np.zeros((len(change), ctx.layers.terms.shape[1]), np.float32)
        gradient = Layers(*(np.zeros_like(x) for x in ctx.layers))
        receive_back(ctx.direction, ctx.layers, ctx.result, change, scratch, gradient)
        return None, *(torch.from_numpy(x) for x in (change, *gradient))
