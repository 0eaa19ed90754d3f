"""Nodes of exported programs: which of them compute, and which data they read."""

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node

from streamplace.errors import GraphError

_FREE = {"_unsafe_view"}
"""Operators that copy nothing although their schema does not say so."""


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
        If the node is control flow, whose work depends on the data.
    """
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    if isinstance(node.target, torch._ops.HigherOrderOperator):  # noqa: SLF001 - has no public name
        raise GraphError(f"it contains {op_name(node)!r}, whose work depends on the data")
    if getattr(node.target, "is_view", False) or op_name(node) in _FREE:
        return False
    return bool(tensors_of(node))


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
    """Return the bytes of those results of a node that another node uses; if none, of all."""
    used = [user for user in node.users if user.target is operator.getitem]
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
