"""Work of operators in floating-point operations."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch.fx import Node, map_arg
from torch.utils.flop_counter import flop_registry

from streamplace.integrations.torch.nodes import elements, op_name, shape_of, tensors_of

_OF_INPUT = frozenset(
    (
        "sum", "mean", "prod", "amax", "amin", "aminmax", "max", "min", "argmax", "argmin", "any",
        "all", "norm", "linalg_vector_norm", "var", "std", "var_mean", "std_mean", "logsumexp",
        "_softmax", "_log_softmax", "cumsum", "cumprod", "sort", "topk", "kthvalue", "median",
        "native_layer_norm", "native_group_norm", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d",
        "adaptive_avg_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "_cdist_forward",
        "_fused_rms_norm", "nll_loss_forward", "scatter_reduce",
    )
)  # fmt: skip
"""Operators that process every element of their first tensor once."""
_POOLS = frozenset(
    (
        "avg_pool1d", "avg_pool2d", "avg_pool3d",
        "max_pool1d", "max_pool2d_with_indices", "max_pool3d_with_indices",
    )
)  # fmt: skip
"""Operators that process a window of elements for each element of their result."""


def flops(node: Node) -> float:
    """Return the floating-point operations of a node.

    Products, convolutions and attention have the formulas of `torch.utils.flop_counter`, where a
    multiplication and an addition are two operations. Reductions and normalisations count one per
    element read, pooling one per element of a window, everything else one per element returned.
    """
    name = op_name(node)
    arguments: Any = map_arg(node.args, lambda each: each.meta["val"])
    if name == "scaled_dot_product_attention":
        return _attention(*(shape_of(tensor) for tensor in arguments[:3]))
    formula: Callable[..., Any] | None = flop_registry.get(
        getattr(node.target, "overloadpacket", None)
    )
    if formula is not None:
        options = map_arg(node.kwargs, lambda each: each.meta["val"])
        return float(formula(*arguments, **options, out_val=node.meta["val"]))
    returned = float(max(elements(tensor) for tensor in tensors_of(node)))
    if name in _POOLS:
        return returned * _window(name, arguments[1])
    first = next((each for each in arguments if isinstance(each, torch.Tensor)), None)
    if name in _OF_INPUT and first is not None:
        return float(elements(first))
    return returned


def _attention(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> float:
    """Return the operations of the two products of attention, for shapes (…, length, size)."""
    *heads, length, size = query
    return 2.0 * prod(heads) * length * key[-2] * (size + value[-1])


def _window(name: str, kernel: int | list[int]) -> int:
    """Return the number of elements of a pooling window."""
    axes = int(next(digit for digit in name if digit.isdigit()))
    sizes = [kernel] if isinstance(kernel, int) else list(kernel)
    return prod(sizes * axes if len(sizes) == 1 else sizes)
