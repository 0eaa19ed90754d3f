"""Effects in exported graphs: calls whose order a token keeps."""

from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from streamplace.integrations.torch.nodes import is_check, is_effect


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
