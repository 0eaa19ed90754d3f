"""Work of operators in floating-point operations."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch.fx import Node, map_arg
from torch.utils.flop_counter import flop_registry

from streamplace.integrations.torch.nodes import elements, op_name, shape_of, tensors_of
from streamplace.integrations.torch.operator_lists import POOLS, READING, RETURNING
from streamplace.integrations.torch.work_rules import RULES
from streamplace.problem.graph import UNKNOWN

_ATTENTION = frozenset(
    (
        "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_attention_math", "_scaled_dot_product_fused_attention_overrideable",
    )
)  # fmt: skip


def flops(node: Node) -> float:
    """Return the floating-point operations of a node; NaN if no rule gives them.

    Products, convolutions and attention have the formulas of `torch.utils.flop_counter`, where a
    multiplication and an addition are two operations, and those that it lacks have formulas of
    the same kind (`work_rules`). Reductions and normalisations count one per element read, pooling
    one per element of a window, and elementwise operators one per element returned.
    """
    name = op_name(node)
    arguments: Any = map_arg(node.args, lambda each: each.meta["val"])
    if name in _ATTENTION:
        return _attention(*(shape_of(tensor) for tensor in arguments[:3]))
    options: Any = map_arg(node.kwargs, lambda each: each.meta["val"])
    formula: Callable[..., Any] | None = flop_registry.get(
        getattr(node.target, "overloadpacket", None)
    )
    if formula is not None:
        return float(formula(*arguments, **options, out_val=node.meta["val"]))
    if name in RULES:
        return float(RULES[name](_all_arguments(node, arguments, options), tensors_of(node)[0]))
    return _per_element(node, name, arguments)


def _per_element(node: Node, name: str, arguments: Any) -> float:
    """Return the operations of a node that does some for each element; NaN of all others."""
    returned = float(max(elements(tensor) for tensor in tensors_of(node)))
    if name in POOLS:
        return returned * _window(name, arguments[1])
    if name in READING:
        first = next((each for each in arguments if isinstance(each, torch.Tensor)), None)
        return returned if first is None else float(elements(first))
    tags = getattr(node.target, "tags", ())
    if name in RETURNING or torch.Tag.pointwise in tags or torch.Tag.view_copy in tags:
        return returned
    return UNKNOWN


def _all_arguments(node: Node, arguments: Any, options: Any) -> list[Any]:
    """Return the arguments of a call in the order of the schema, with their defaults."""
    schema: Any = node.target._schema  # type: ignore[union-attr]  # noqa: SLF001 - has no public name
    rest = schema.arguments[len(arguments) :]
    return [*arguments, *(options.get(each.name, each.default_value) for each in rest)]


def _attention(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> float:
    """Return the operations of the two products of attention, for shapes (…, length, size)."""
    *heads, length, size = query
    return 2.0 * prod(heads) * length * key[-2] * (size + value[-1])


def _window(name: str, kernel: int | list[int]) -> int:
    """Return the number of elements of a pooling window."""
    axes = int(next(digit for digit in name if digit.isdigit()))
    sizes = [kernel] if isinstance(kernel, int) else list(kernel)
    return prod(sizes * axes if len(sizes) == 1 else sizes)
