"""Calls of exported modules: which inputs an export accepts, and what a call changes in place."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.fx import Node
from torch.utils import _pytree

from streamplace.errors import GraphError

MAX_SHOWN = 80
"""Characters of a value that are repeated."""

_OF_MODULE = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)
_INSTEAD = "create another object with such example inputs"
_BY_DATA = {"cond", "while_loop"}
_FREE = {"_unsafe_view"}
"""Operators that copy nothing although their schema does not say so."""
_CHECK = torch.ops.aten._linalg_check_errors.default  # noqa: SLF001 - has no public name
"""Raises an error if a factorisation failed, and returns nothing."""


@dataclass(frozen=True)
class Accepted:
    """The inputs that an exported module accepts: those that equal its example inputs in form.

    Parameters
    ----------
    structures
        Of each example input, how tensors and other values are nested in it.
    leaves
        Name of a tensor or value -> a tensor without data, or the value, on which the graph may
        depend.
    """

    structures: tuple[_pytree.TreeSpec, ...]
    leaves: dict[str, Any]

    @classmethod
    def of(cls, exported: ExportedProgram, inputs: Sequence[Any]) -> "Accepted":
        """Return what an export for example inputs accepts."""
        values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
        leaves = {
            spec.arg.name: spec.arg.value
            if isinstance(spec.arg, ConstantArgument)
            else values[spec.arg.name]
            for spec in exported.graph_signature.input_specs
            if spec.kind is InputKind.USER_INPUT
        }
        return cls(tuple(_pytree.tree_structure(each) for each in inputs), leaves)

    def flat(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the tensors and values of inputs, in the order of the placeholders.

        Raises
        ------
        GraphError
            If number, nesting, shapes, types or values other than tensors are not those of the
            example inputs.
        """
        if len(inputs) != len(self.structures):
            count = len(self.structures)
            raise GraphError(
                f"number of inputs: must be {count}, as in the example inputs (got {len(inputs)})"
            )
        flat: list[Any] = []
        for number, (structure, value) in enumerate(zip(self.structures, inputs, strict=True), 1):
            try:
                flat += structure.flatten_up_to(value)
            except ValueError as error:
                what = f"input {number}: must be nested as in the example inputs"
                raise GraphError(f"{what} ({_line(str(error))}); {_INSTEAD}") from None
        for (name, expected), value in zip(self.leaves.items(), flat, strict=True):
            if not _accepts(expected, value):
                must = f"must be {_text(expected)}, as in the example inputs"
                raise GraphError(f"input {name!r}: {must} (got {_text(value)}); {_INSTEAD}")
        return flat


def changed_in_place(exported: ExportedProgram) -> dict[int, str]:
    """Return the changes of a call: position of a result of the graph -> name of a placeholder.

    The result is the new value of what the placeholder represents: a buffer, parameter or input.
    """
    signature = exported.graph_signature
    names = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target}
    return {
        position: names[spec.target] if spec.kind in _OF_MODULE else str(spec.target)
        for position, spec in enumerate(signature.output_specs)
        if spec.kind in _OF_MODULE or spec.kind is OutputKind.USER_INPUT_MUTATION
    }


def check_apart(inputs: Mapping[str, Any], changed: Mapping[str, torch.Tensor]) -> None:
    """Refuse inputs that share memory with another tensor that the call changes in place.

    Raises
    ------
    GraphError
        If their ranges of memory overlap: the graph reads each before it changes any.
    """
    for name, value in inputs.items():
        for other, tensor in changed.items():
            if name != other and isinstance(value, torch.Tensor) and _overlap(value, tensor):
                raise GraphError(
                    f"input {name!r}: its range of memory overlaps that of {other!r}, which the "
                    "module changes in place; pass a copy"
                )


def _accepts(expected: Any, value: Any) -> bool:
    if isinstance(expected, torch.Tensor):
        return (
            isinstance(value, torch.Tensor)
            and value.dtype == expected.dtype
            and value.dim() == expected.dim()
            and all(
                size == got or not isinstance(size, int)  # a symbol, of an axis of any size
                for size, got in zip(expected.shape, value.shape, strict=True)
            )
        )
    value, expected = _plain(value), _plain(expected)
    # the texts of 0.0 and -0.0 differ, and those of two NaN do not
    return type(value) is type(expected) and repr(value) == repr(expected)


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, and everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return _line(repr(value))
    return f"a tensor {shape_text(value)}:{str(value.dtype).removeprefix('torch.')}"


def shape_text(tensor: torch.Tensor) -> str:
    """Return the shape of a tensor as text: ``3x4``, or ``scalar``."""
    return "x".join(map(str, tensor.shape)) or "scalar"


def _line(text: str) -> str:
    """Return the beginning of a text as one line."""
    line = " ".join(text.split()).removesuffix(".")
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


def _overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return whether the ranges of memory from first to last element of two tensors overlap."""
    if a.device != b.device or not a.numel() or not b.numel():
        return False
    if a.is_meta or not a.layout == b.layout == torch.strided:  # no memory, or none as one range
        return False
    (a_begin, a_end), (b_begin, b_end) = _range(a), _range(b)
    return a_begin < b_end and b_begin < a_end


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    elements = 1 + sum((size - 1) * step for size, step in steps)
    return tensor.data_ptr(), tensor.data_ptr() + elements * tensor.element_size()


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
        If the node calls another graph, as control flow does, or has a side effect.
    """
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    if is_effect(node):
        if is_check(node):
            return False
        raise GraphError(f"it contains {str(node.args[1])!r}, which has a side effect")
    if isinstance(node.target, torch._ops.HigherOrderOperator):  # noqa: SLF001 - has no public name
        raise GraphError(f"it contains {op_name(node)!r}, {_why_not(op_name(node))}")
    if getattr(node.target, "is_view", False) or op_name(node) in _FREE:
        return False
    return bool(tensors_of(node))


def _why_not(name: str) -> str:
    """Return why a call of another graph is no operator, such as ``cond`` or ``scan``."""
    if name in _BY_DATA:
        return "whose work depends on the data"
    return (
        "which calls another graph, and such calls are not read; write what it calls into the "
        "module itself, a loop as one of Python, and attention as scaled_dot_product_attention"
    )


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
