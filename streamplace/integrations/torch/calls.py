"""Calls of exported modules: which inputs an export accepts, and what a call changes in place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree

from streamplace.errors import GraphError

MAX_SHOWN = 80
"""Characters of a value that are repeated."""

_OF_MODULE = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)
_INSTEAD = "create another object with such example inputs"


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
