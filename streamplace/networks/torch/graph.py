"""Modules as stream graphs: operators with their work, bytes and memory."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

import torch
from torch.fx import Node

from streamplace.errors import GraphError
from streamplace.networks.operation import unknown_work
from streamplace.networks.torch.calls import (
    bytes_emitted,
    bytes_of,
    computes,
    op_name,
    origin_of,
    reads,
    shape_of,
    tensors_of,
)
from streamplace.networks.torch.costs import flops
from streamplace.networks.torch.program import Program, export
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.operators import Operator, Stream


def from_module(module: torch.nn.Module, example_inputs: Sequence[Any]) -> StreamGraph:
    """Return one pass of a PyTorch module as a graph.

    The module is exported by `torch.export.export` for inputs of these shapes and decomposed into
    ATen's core operators; only attention stays whole. Call `module.eval()` first for the graph of
    an inference. Each node that computes is an operator. Views take no time: a stream leads from
    the operator that computed the data to the one that reads them, and its payload is the part that
    is read. Inputs of the module and parameters are not operators, so operators that read nothing
    else are sources. Neither are the checks of factorisations, such as that of `torch.linalg.inv`.

    Operators have these values:

    - `instructions`: floating-point operations; NaN where no rule gives them, as for most operators
      of other libraries. `Device.mips` is then a device's speed in million such operations/s.
    - `payload_bytes`: bytes of the results that are used.
    - `memory_bytes`: bytes of all results, and of the parameters and buffers that are read. One
      that several operators read counts for the first of them.
    - `type`: the ATen operator. `output_shape`: the shape of the first result.
    - `meta_op`: the path of the submodule; empty for the module itself.

    Operators that read or replace a buffer that a pass changes, such as a cache, are colocated: it
    is one state. The graph has `firing` ``all``, and its name is that of the module's class.

    Parameters
    ----------
    module
        The module. Its parameters are not changed.
    example_inputs
        Its positional arguments.

    Raises
    ------
    GraphError
        If the module does not run on these inputs, cannot be exported, has control flow or shapes
        that depend on the data, has an operator with a side effect, or computes nothing.
    """
    return read_program(export(module, example_inputs), type(module).__name__).graph


def read_program(program: Program, name: str) -> LogicalGraph:
    """Return the graph of an exported module, with notes about what it leaves out.

    Raises
    ------
    GraphError
        See `from_module`.
    """
    computing = operators_of(program)
    memory, shared = _memory(program, computing.values())
    operators = [
        Operator(
            operator,
            flops(node),
            bytes_emitted(node),
            memory[node],
            type=op_name(node),
            output_shape=shape_of(tensors_of(node)[0]),
            meta_op=_path(node),
        )
        for operator, node in computing.items()
    ]
    names = {node: operator for operator, node in computing.items()}
    streams = [
        Stream(names[origin], operator, payload_bytes=size)
        for operator, node in computing.items()
        for origin, size in reads(node)
        if origin in names
    ]
    rules = Constraints(colocate=_of_states(program, names))
    graph = StreamGraph(operators, streams, name=name, firing="all", constraints=rules)
    unknown = unknown_work(o.type for o in operators if o.type and isnan(o.instructions))
    return LogicalGraph(graph, notes=[*_notes(shared), *unknown])


def _of_states(program: Program, names: Mapping[Node, str]) -> list[list[str]]:
    """Return the operators that read or replace each buffer that a pass changes."""
    found: dict[str, dict[str, None]] = {buffer: {} for buffer in program.changed.values()}
    for node, operator in names.items():
        for origin, _ in reads(node):
            if (stored := program.stored.get(origin.name)) in found:
                found[stored][operator] = None
    for node in program.nodes:
        if (buffer := program.changed.get(node.name)) is not None:
            origin, _ = origin_of(node)
            if origin in names:
                found[buffer][names[origin]] = None
    return [[*operators] for operators in found.values() if len(operators) > 1]


def operators_of(program: Program) -> dict[str, Node]:
    """Return the nodes that compute by the names of their operators.

    A name is the path of the submodule and the ATen operator, such as ``layers.0.linear.addmm``,
    and a number if there are several.

    Raises
    ------
    GraphError
        If there is none, or a node is control flow or has a side effect.
    """
    named: dict[str, Node] = {}
    for node in program.nodes:
        if computes(node):
            named[_unique_name(".".join(filter(None, (_path(node), op_name(node)))), named)] = node
    if not named:
        raise GraphError("it computes nothing")
    return named


def _unique_name(name: str, used: Iterable[str]) -> str:
    """Return a name, with the first number that makes it unique if it is in use."""
    numbered, number = name, 1
    while numbered in used:
        numbered, number = f"{name}_{number}", number + 1
    return numbered


def _path(node: Node) -> str:
    """Return the path of the submodule that a node comes from, such as ``layers.0.linear``."""
    modules = list(node.meta.get("nn_module_stack", {}).values())
    path = str(modules[-1][0]) if modules else ""
    return path.removeprefix("L['self']").removeprefix(".")


def _memory(program: Program, nodes: Iterable[Node]) -> tuple[dict[Node, int], list[str]]:
    """Return bytes of each node's results and parameters, and the parameters that are shared."""
    memory: dict[Node, int] = {}
    readers: dict[str, int] = {}
    for node in nodes:
        memory[node] = bytes_of(node)
        for origin, _ in reads(node):
            if (stored := program.stored.get(origin.name)) is not None:
                readers[stored] = readers.get(stored, 0) + 1
                if readers[stored] == 1:
                    memory[node] += bytes_of(origin)
    return memory, [stored for stored, count in readers.items() if count > 1]


def _notes(shared: Sequence[str]) -> list[str]:
    if not shared:
        return []
    return [
        f"several operators read {listed(shared)}; memory_bytes of the first of them counts it, so "
        "set that of the others if they may run on other devices"
    ]
