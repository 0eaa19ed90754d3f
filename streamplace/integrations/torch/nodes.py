"""Nodes of exported programs: which of them compute, and which data they read."""

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node

from streamplace.errors import GraphError

_FREE = {"_unsafe_view"}
"""Operators that copy nothing although their schema does not say so."""
_CHECK = torch.ops.aten._linalg_check_errors.default  # noqa: SLF001 - has no public name
"""Raises an error if a factorisation failed, and returns nothing."""


def tensors_of(node: Node) -> list[torch.Tensor]:
    """Return the tensors that a node returns, without data."""
    return [
        value
        for value in torch.utils._pytree.tree_leaves(node.meta.get("val"))  # noqa: SLF001 - torch.export itself returns such trees
        if isinstance(value, torch.Tensor)
    ]


def computes(node: Node) -> bool:
    """Return whether a node takes time: not a view, not a part of a result, not an assertion.

    Raises
    ------
    GraphError
        If the node is control flow, whose work depends on the data, or has a side effect.
    """
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    if is_effect(node):
        if is_check(node):
            return False
        raise GraphError(f"it contains {str(node.args[1])!r}, which has a side effect")
    if isinstance(node.target, torch._ops.HigherOrderOperator):  # noqa: SLF001 - has no public name
        raise GraphError(f"it contains {op_name(node)!r}, whose work depends on the data")
    if getattr(node.target, "is_view", False) or op_name(node) in _FREE:
        return False
    return bool(tensors_of(node))


def is_effect(node: Node) -> bool:
    """Return whether a node calls an operator with a side effect, and passes on a token."""
    return node.op == "call_function" and op_name(node) == "with_effects"


def is_check(node: Node) -> bool:
    """Return whether a node only checks whether a factorisation succeeded."""
    return _CHECK in ((node.target, *node.args[1:2]) if is_effect(node) else (node.target,))


def op_name(node: Node) -> str:
    """Return the name of a node's operator: ``addmm`` for ATen's, otherwise with its library."""
    packet = getattr(node.target, "overloadpacket", None)
    name = str(packet if packet is not None else getattr(node.target, "__name__", node.target))
    return name.removeprefix("aten.")


def bytes_of(node: Node) -> int:
    """Return the bytes of the tensors that a node returns.

    Raises
    ------
    GraphError
        If a shape depends on the data.
    """
    return sum(elements(tensor) * tensor.element_size() for tensor in tensors_of(node))


def elements(tensor: torch.Tensor) -> int:
    """Return the number of elements of a tensor.

    Raises
    ------
    GraphError
        If its shape depends on the data.
    """
    return int(torch.Size(shape_of(tensor)).numel())


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """Return the sizes of a tensor's axes.

    Raises
    ------
    GraphError
        If they depend on the data.
    """
    sizes: list[Any] = list(tensor.shape)
    if any(not isinstance(size, int) for size in sizes):
        raise GraphError(f"a shape depends on the data ({'x'.join(map(str, sizes))})")
    return tuple(sizes)


def bytes_emitted(node: Node) -> int:
    """Return the bytes of those results of a node that another node uses; if none, of all.

    A check does not count as use.
    """
    used = [
        user
        for user in node.users
        if user.target is operator.getitem and not all(map(is_check, user.users))
    ]
    if not isinstance(node.meta["val"], torch.Tensor) and used:
        return sum(bytes_of(user) for user in used)
    return bytes_of(node)


def reads(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the nodes whose data a node reads, and how many bytes of them.

    Views are followed to the node that computed their data. Of several tensors with data of one
    node, such as the thirds of a projection, each counts, but together at most all data.
    """
    found: dict[Node, int] = {}
    for argument in node.all_input_nodes:
        origin, size = origin_of(argument)
        found[origin] = found.get(origin, 0) + size
    for origin, size in found.items():
        yield origin, min(size, bytes_emitted(origin))


def origin_of(node: Node) -> tuple[Node, int]:
    """Return the node that computed the data of a node, and the bytes of them that it shows.

    A view may repeat data (`expand`), so the smallest tensor on the way counts.
    """
    size = bytes_of(node)
    while node.op == "call_function" and not computes(node) and node.all_input_nodes:
        node = node.all_input_nodes[0]
        size = min(size, bytes_of(node))
    return node, size
