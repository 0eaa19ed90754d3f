"""Products of many inputs with one weight, whose gradient is a single product."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class SharedWeight:
    """A weight, (I, O), that is multiplied by the inputs of many decoding steps.

    It is fastest as the transposed view of a weight of a linear layer, (O, I).

    PyTorch computes the weight's gradient for each product and adds them up. With a few rows per
    step, this is bound by writing the large gradient each time. Here the inputs and the gradients
    of all products are joined first, and multiplied once. A gradient of the weight must therefore
    be taken together with all others of the same loss, and cannot be differentiated again.
    """

    def __init__(self, weight: Tensor) -> None:
        self._uses: list[tuple[Tensor, Tensor]] = []
        self._weight: Tensor = _Gathered.apply(weight, self._uses)  # type: ignore[no-untyped-call]

    def product(self, bias: Tensor, inputs: Tensor) -> Tensor:
        """Return bias + inputs · weight, (R, O), for a bias, (R, O), and inputs, (R, I)."""
        result: Tensor = _Product.apply(bias, inputs, self._weight, self._uses)  # type: ignore[no-untyped-call]
        return result


class _Gathered(torch.autograd.Function):
    """The weight itself; its gradient is that of all products, whose gradients come before it."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, uses: list[tuple[Tensor, Tensor]]) -> Tensor:
        ctx.set_materialize_grads(False)  # the products return no gradient of the weight
        ctx.uses = uses
        return weight.view_as(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *_: Tensor | None) -> tuple[Tensor, None]:
        inputs, changes = (torch.cat(parts) for parts in zip(*ctx.uses, strict=True))
        ctx.uses.clear()
        return (changes.t() @ inputs).t(), None  # laid out as the weight of a linear layer


class _Product(torch.autograd.Function):
    """A product that leaves the gradient of the weight to `_Gathered`."""

    @staticmethod
    def forward(
        ctx: Any, bias: Tensor, inputs: Tensor, weight: Tensor, uses: list[tuple[Tensor, Tensor]]
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.uses = uses
        return torch.addmm(bias, inputs, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *changes: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        if ctx.needs_input_grad[2]:  # else nothing would empty the list
            ctx.uses.append((inputs, changes[0]))
        return changes[0], changes[0] @ weight.t(), None, None
