"""Modules exported as programs of ATen's core operators."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node
from torch.utils import _pytree

from streamplace.errors import GraphError
from streamplace.networks.torch.calls import Accepted, is_check, is_effect, shape_text
from streamplace.util.out_of_memory import is_out_of_memory

MAX_MESSAGE = 200
"""Characters of an error of torch that are repeated."""

_GUARD = "GuardOnDataDependentSymNode"
"""Class of the error that torch.export raises for such control flow; it has no public name."""
_STORED = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


@dataclass(frozen=True)
class Program:
    """A module as a graph of ATen's core operators.

    Parameters
    ----------
    exported
        The result of `torch.export.export`, decomposed.
    stored
        Name of a placeholder -> the parameter, buffer or constant that it represents.
    accepted
        The inputs that it accepts.
    changed
        Name of a node -> the buffer that a pass replaces by its result.
    """

    exported: ExportedProgram
    stored: dict[str, str]
    accepted: Accepted
    changed: dict[str, str]

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the graph, in an order in which they can run."""
        return list(self.exported.graph.nodes)

    def arguments(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """Return the values of the placeholders by name, in order, for inputs of the module.

        Raises
        ------
        GraphError
            If the inputs are not of the form of the example inputs; see `Accepted`.
        """
        flat = iter(self.accepted.flat(inputs))
        tensors = {**self.exported.state_dict, **self.exported.constants}
        specs = self.exported.graph_signature.input_specs
        return {
            spec.arg.name: next(flat)
            if spec.kind is InputKind.USER_INPUT
            else tensors[str(spec.target)]
            for spec in specs
        }


def export(module: torch.nn.Module, inputs: Sequence[Any]) -> Program:
    """Export a module with `torch.export.export`, for inputs of fixed shapes.

    Attention (`scaled_dot_product_attention`) stays one operator, because it runs as one, and a
    linear layer is one product, see `_linear`.

    Raises
    ------
    GraphError
        If the module does not run on these inputs, or cannot be exported.
    """
    table = torch.export.default_decompositions()
    table.pop(torch.ops.aten.scaled_dot_product_attention.default, None)  # type: ignore[no-untyped-call]  # torch has no types for it
    table[torch.ops.aten.linear.default] = _linear
    try:
        with torch.no_grad(), _silence():
            distinct = _distinct(module, inputs)
            exported = torch.export.export(module, distinct).run_decompositions(table)
    except (Exception, SystemExit) as error:
        # A clearer message if the inputs are the fault.
        with as_graph_error(inputs), torch.no_grad():
            module(*inputs)
        what = "torch.export cannot export it"
        if type(error).__name__ == _GUARD:
            what += ", because its control flow depends on the data"
        raise _fault(what, error) from None
    call_checks_directly(exported)
    specs = exported.graph_signature.input_specs
    stored = {spec.arg.name: str(spec.target) for spec in specs if spec.kind in _STORED}
    changed = dict(exported.graph_signature.buffers_to_mutate)
    return Program(exported, stored, Accepted.of(exported, inputs), changed)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a linear layer as one product of two matrices, which is how a module runs it.

    Where the memory of `x` is not in the order of its axes, as in attention with ``batch_first``,
    torch.export makes a batch of small products instead, each with a copy of the weights.
    """
    if min(x.ndim, weight.ndim) == 1:
        product = x @ weight.t()
        return product if bias is None else product + bias
    rows, columns = x.flatten(0, -2), weight.t()
    product = rows @ columns if bias is None else torch.addmm(bias, rows, columns)
    return product.view(*x.shape[:-1], weight.shape[0])


def _distinct(module: torch.nn.Module, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return inputs in which no tensor occurs twice or belongs to the module.

    torch.export would join its occurrences, so that the graph would read only one of them.
    """
    known = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}

    def distinct(value: Any) -> Any:
        if isinstance(value, Tensor) and id(value) in known:
            return value.detach().clone()
        known.add(id(value))
        return value

    return tuple(_pytree.tree_map(distinct, tuple(inputs)))


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress what torch.export prints and logs, since its error says what is wrong."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def as_graph_error(inputs: Sequence[Any]) -> Iterator[None]:
    """Turn an error of a module that runs on inputs into a GraphError of one line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        shapes = ", ".join(_shape(each) for each in inputs)
        raise _fault(f"it does not run on inputs of shape {shapes}", error) from None


def _shape(value: Any) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return shape_text(value)


def _fault(what: str, error: BaseException) -> BaseException:
    """Return the error to raise: its message is one line, however long that of torch is."""
    if is_out_of_memory(error):
        return MemoryError()
    lines = (line.strip() for line in str(error).splitlines())
    line = next(filter(None, lines), "")
    text = line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]}…"
    return GraphError(f"{what}: {type(error).__name__}" + (f": {text}" if text else ""))


def call_checks_directly(exported: ExportedProgram) -> None:
    """Replace checks of linear algebra that pass on a token by plain calls, in place.

    `torch.linalg.inv` and its like check whether a factorisation succeeded and raise an error if
    not. torch.export wraps the check in ``with_effects``, which takes a token and returns it, so
    that checks keep their order. In a graph that runs node by node they keep it anyway. A graph
    with other effects stays as it is.
    """
    module = exported.graph_module
    wrapped = [node for node in module.graph.nodes if is_effect(node)]
    if not wrapped or not all(is_check(node) for node in wrapped):
        return
    for node in wrapped:
        _unwrap(node)
    signature = exported.graph_signature
    inputs, outputs = signature.input_specs, signature.output_specs
    tokens = {spec.arg.name for spec in inputs if spec.kind is InputKind.TOKEN}
    end = module.graph.output_node()
    kept = [
        value
        for value, spec in zip(end.args[0], outputs, strict=True)
        if spec.kind is not OutputKind.TOKEN
    ]
    end.args = (tuple(kept),)
    for node in module.graph.find_nodes(op="placeholder"):
        if node.name in tokens:
            module.graph.erase_node(node)
    signature.input_specs = [spec for spec in inputs if spec.kind is not InputKind.TOKEN]
    signature.output_specs = [spec for spec in outputs if spec.kind is not OutputKind.TOKEN]
    module.recompile()


def _unwrap(node: Node) -> None:
    """Replace a wrapped check by a direct call; later nodes read the token that it took."""
    taken: tuple[Any, ...] = node.args
    token, check, *arguments = taken
    with node.graph.inserting_before(node):
        call = node.graph.call_function(check, tuple(arguments), dict(node.kwargs))
    call.meta = {**node.meta, "val": None}
    for item in list(node.users):
        item.replace_all_uses_with(token)
        node.graph.erase_node(item)
    node.graph.erase_node(node)
