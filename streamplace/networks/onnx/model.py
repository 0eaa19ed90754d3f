"""Reader of ONNX models, by the package onnx, which also infers the shapes of tensors."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from streamplace.errors import FormatError, UsageError
from streamplace.formats.format import Format, Signs
from streamplace.formats.sizes import NO_SIZES, Axis, Input, Sizes, open_dimensions
from streamplace.networks.onnx.runtime import (
    EQUIVALENTS,
    FLOPS,
    inputs_of,
    replace_for_inference,
    type_of,
)
from streamplace.networks.tensor_graph import Layer, Tensor, dataflow_graph
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.logical import LogicalGraph
from streamplace.util.extras import missing_message

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

BITS = {
    **dict.fromkeys((2, 3, 9, 17, 18, 19, 20, 24), 8),
    **dict.fromkeys((4, 5, 10, 16), 16),
    **dict.fromkeys((1, 6, 12), 32),
    **dict.fromkeys((7, 11, 13, 14), 64),
    15: 128,
    **dict.fromkeys((21, 22, 23), 4),
    **dict.fromkeys((25, 26), 2),
}
"""`TensorProto.DataType` -> bits of an element; others, such as text, have no fixed size."""
INT64_BYTES = 8
SHAPES = frozenset({"Shape", "Size"})
"""Types whose result is a constant if the shape of their input is known."""
COMPUTED = frozenset({"Add", "Sub", "Mul", "Mod", "Reshape", "Squeeze", "Unsqueeze", "Concat"})
WHOLE, MAX_COMPUTED = frozenset({6, 7}), 64  # data types (int32, int64), and numbers of a constant
WITH_STATE = frozenset({"RandomNormal", "RandomUniform", "Multinomial", "Bernoulli"})

COMPUTED |= {"Gather", "Slice", "Cast"}

"""Types of which `_compute` computes the values; none makes much of few numbers."""

WITH_STATE |= {"RandomNormalLike", "RandomUniformLike"}


def read(data: bytes, where: str, sizes: Sizes = NO_SIZES) -> LogicalGraph:
    """Read a model; inputs and nodes become operators, and initializers their memory.

    Nodes without a name are named after their first output. Data outside the file are not read.

    Parameters
    ----------
    sizes
        Sizes of dimensions that have a name or none instead of a size.

    Raises
    ------
    UsageError
        If the package onnx is not installed, or the sizes do not fit the model.
    FormatError
        If the data are not a model. The message names `where` and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    model = _model(data, where)
    graph = model.graph
    try:
        notes = _with_sizes(graph, sizes, where)
        inferred, failures = _infer_shapes(model)
        layers = _layers(graph, inferred)
    except UnicodeDecodeError:
        raise FormatError(f"{where}: a text is not UTF-8") from None
    texts = (each for a in layers for each in (a.name, a.type, *a.inputs, *a.outputs))
    if any(isinstance(text, bytes) for text in (graph.name, *texts)):  # what protobuf returns
        raise FormatError(f"{where}: a text is not UTF-8")
    logical = dataflow_graph(layers, FLOPS, where, graph.name)
    return replace(logical, notes=[*logical.notes, *notes, *failures])


def _onnx() -> Any:
    """Return the package onnx.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import onnx.inliner  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(missing_message("--from onnx", "onnx", "onnx")) from None
    return onnx


def _model(data: bytes, where: str) -> "ModelProto":
    """Return a model, with the bodies of its own functions in the place of their calls."""
    onnx = _onnx()
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - comes with onnx

    try:
        model: ModelProto = onnx.load_model_from_string(data)
    except DecodeError:
        raise FormatError(f"{where}: not an ONNX model") from None
    if not model.graph.node:
        raise FormatError(f"{where}: not an ONNX model: it contains no nodes")
    if not model.functions:
        return model
    try:
        return onnx.inliner.inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise FormatError(f"{where}: its functions cannot be inlined: {_line(error)}") from None


def _with_sizes(graph: "GraphProto", sizes: Sizes, where: str) -> list[str]:
    """Set stated sizes in a graph and its bodies, in place; return a note on what is still open."""
    inputs = [value for value in graph.input if value.name not in _names_of_constants(graph)]
    stated = [Input(value.name, _axes(value)) for value in inputs]
    values = [*_values(graph)]
    named = {dim.dim_param for value in values for dim in _dims(value) if dim.dim_param}
    known, shapes = sizes.of(stated, where, named)
    for value in values:
        for dim in _dims(value):
            if dim.dim_param in known:
                dim.dim_value = known[dim.dim_param]
    for value, each in zip(inputs, stated, strict=True):
        if each.axes is None:
            for size in shapes.get(each.name, ()):
                value.type.tensor_type.shape.dim.add(dim_value=size)
        else:
            for i, dim in enumerate(_dims(value)):
                if each.dimension(i) in known and not isinstance(each.axes[i], int):
                    dim.dim_value = known[each.dimension(i)]
    return open_dimensions(stated, sizes)


def _values(graph: "GraphProto") -> "Iterator[ValueInfoProto]":
    """Yield the tensors whose types a graph and its bodies state."""
    yield from (*graph.input, *graph.value_info, *graph.output)
    for node in graph.node:
        for body in _bodies(node):
            yield from _values(body)


def _dims(value: "ValueInfoProto") -> Any:
    return value.type.tensor_type.shape.dim


def _axes(value: "ValueInfoProto") -> list[Axis] | None:
    """Return the axes of an input; None if their number is not stated."""
    if not value.type.tensor_type.HasField("shape"):
        return None if value.type.HasField("tensor_type") else []
    return [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or None
        for dim in _dims(value)
    ]


def _infer_shapes(model: "ModelProto") -> "tuple[GraphProto, list[str]]":
    """Return the graph of a model with inferred shapes, and notes if inference fails."""
    inference = _onnx().shape_inference
    types = {type_of(node) for node in model.graph.node}
    if not types.isdisjoint(EQUIVALENTS.keys() | COMPUTED):
        copy = type(model)()
        copy.CopyFrom(model)
        replace_for_inference(copy.graph)
        _compute(copy.graph)
        model = copy
    try:
        return inference.infer_shapes(model, data_prop=True).graph, []
    except (inference.InferenceError, RuntimeError, ValueError) as error:
        return model.graph, [f"shapes cannot be inferred, so that some are unknown: {_line(error)}"]


def _compute(graph: "GraphProto") -> None:
    """Replace nodes that compute few whole numbers from constants by these numbers, in place.

    Inference follows the values of shapes, but not through all operators that compute them.
    """
    known = {tensor.name: tensor for tensor in graph.initializer if _is_small(tensor)}
    for node in graph.node:
        if type_of(node) in COMPUTED and known.keys() >= {*node.input}:
            with suppress(Exception), np.errstate(all="ignore"):  # inference says what is wrong
                node.CopyFrom(_constant_result(node, known))
        if node.op_type == "Constant":
            values = [each.t for each in node.attribute if each.name == "value"]
            found = zip(node.output, values, strict=False)
            known |= {name: tensor for name, tensor in found if _is_small(tensor)}


def _constant_result(node: "NodeProto", known: "Mapping[str, TensorProto]") -> "NodeProto":
    """Return a node of one result, with known inputs, as a constant."""
    from onnx import helper, numpy_helper, reference  # noqa: PLC0415 - an extra

    inputs = {name: numpy_helper.to_array(known[name]) for name in node.input}
    (value,) = reference.ReferenceEvaluator(node).run(None, inputs)
    tensor = numpy_helper.from_array(np.asarray(value))
    return helper.make_node("Constant", [], [*node.output], value=tensor)


def _is_small(tensor: "TensorProto") -> bool:
    """Return whether a constant may be a shape or a part of it."""
    is_here = not tensor.external_data and tensor.data_type in WHOLE
    return is_here and prod(tensor.dims) <= MAX_COMPUTED


def _line(error: Exception) -> str:
    return f"{' '.join(str(error).split()):.80}"


def _tensors(graph: "GraphProto") -> dict[str, Tensor]:
    """Return name -> tensor, where the model states or implies its type."""
    values = (*graph.input, *graph.value_info, *graph.output)
    return {value.name: _tensor_of(value) for value in values}


def _layers(graph: "GraphProto", inferred: "GraphProto") -> list[Layer]:
    """Return the constants, inputs and nodes of a model.

    Parameters
    ----------
    inferred
        The graph with inferred shapes, in which nodes of ONNX may stand for those of other domains.
    """
    tensors = _tensors(inferred)
    with_bodies = {name: node for node in inferred.node for name in node.output}
    layers = [*_constants(graph), *_inputs(graph)]
    for node in graph.node:
        bodies = _bodies(with_bodies.get(next(iter(node.output), ""), node))
        layers.append(_layer(node, graph, tensors, bodies))
    return layers


def _body(graph: "GraphProto") -> list[Layer]:
    """Return the constants, nodes and results of the body of a node."""
    tensors = _tensors(graph)
    nodes = [_layer(node, graph, tensors, _bodies(node)) for node in graph.node]
    results = Layer("", "Result", [value.name for value in graph.output])
    return [*_constants(graph), *nodes, results]


def _constants(graph: "GraphProto") -> Iterator[Layer]:
    """Yield the initializers, which hold weights."""
    for tensor in graph.initializer:
        found = Tensor(tuple(tensor.dims), _element_bytes(tensor.data_type))
        yield Layer(tensor.name, "Constant", outputs={tensor.name: found}, is_constant=True)
    for sparse in graph.sparse_initializer:
        found = Tensor(tuple(sparse.values.dims), _element_bytes(sparse.values.data_type))
        name = sparse.values.name
        yield Layer(name, "Constant", outputs={name: found}, is_constant=True)


def _names_of_constants(graph: "GraphProto") -> set[str]:
    """Return the names of tensors whose values the graph states."""
    names = {tensor.name for tensor in graph.initializer}
    return names | {tensor.values.name for tensor in graph.sparse_initializer}


def _inputs(graph: "GraphProto") -> Iterator[Layer]:
    """Yield the inputs; initializers may be listed among them, as defaults."""
    constants = _names_of_constants(graph)
    for value in graph.input:
        if value.name not in constants:
            yield Layer(value.name, "Input", outputs={value.name: _tensor_of(value)})


def _layer(
    node: "NodeProto",
    graph: "GraphProto",
    tensors: Mapping[str, Tensor],
    bodies: "Iterable[GraphProto]",
) -> Layer:
    kind = type_of(node)
    attributes = {attribute.name: attribute for attribute in node.attribute}
    texts = {name: each.s.decode() for name, each in attributes.items() if each.type == each.STRING}
    outputs = [name for name in node.output if name]
    unknown = Tensor(None, UNKNOWN)
    equivalent = EQUIVALENTS.get(kind)
    is_known_shape = kind in SHAPES and all(
        tensors.get(name, unknown).shape is not None for name in node.input
    )
    inputs = [name or None for name in inputs_of(node)] + [*dict.fromkeys(_outer_tensors(node))]
    return Layer(
        node.name or next(iter(outputs), ""),
        kind,
        [] if is_known_shape else inputs,
        {name: tensors.get(name) or _constant_of(node) for name in outputs},
        is_constant=is_known_shape or node.op_type == "Constant",
        keeps_state=node.op_type in WITH_STATE,
        bodies=[_body(body) for body in bodies],
        kernel=tuple(attributes["kernel_shape"].ints) if "kernel_shape" in attributes else (),
        transposed="transA" in attributes and bool(attributes["transA"].i),
        equation=texts.get("equation", ""),
        mode=texts.get("mode", ""),
        numbers=_numbers(node, graph),
        works_as=equivalent.type if equivalent else "",
    )


def _numbers(node: "NodeProto", graph: "GraphProto") -> dict[str, int]:
    """Return the whole numbers among the attributes of a node, under the names that rules use."""
    found = {each.name: each.i for each in node.attribute if each.type == each.INT}
    equivalent = EQUIVALENTS.get(type_of(node))
    if equivalent and equivalent.heads:
        names = zip(("q_num_heads", "kv_num_heads"), equivalent.heads, strict=True)
        found |= {name: found.get(own, 0) for name, own in names}
    if node.op_type == "DFT" and len(node.input) > 2:  # noqa: PLR2004 - the axis is its third input
        axis = next((each for each in graph.initializer if each.name == node.input[2]), None)
        if axis is not None and (axis.int64_data or len(axis.raw_data) == INT64_BYTES):
            found["axis"] = (
                axis.int64_data[0]
                if axis.int64_data
                else int.from_bytes(axis.raw_data, "little", signed=True)
            )
    return found


def _outer_tensors(node: "NodeProto") -> Iterator[str]:
    """Yield the tensors of the surrounding graph that the bodies of a node read."""
    for body in _bodies(node):
        own = {value.name for value in body.input} | _names_of_constants(body)
        own |= {name for inner in body.node for name in inner.output}
        read = [name for inner in body.node for name in (*inner.input, *_outer_tensors(inner))]
        read += [value.name for value in body.output]
        yield from (name for name in read if name and name not in own)


def _bodies(node: "NodeProto") -> "Iterator[GraphProto]":
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _constant_of(node: "NodeProto") -> Tensor:
    """Return the tensor that a node states, if it is a constant, whose type is not inferred."""
    for each in node.attribute if node.op_type == "Constant" else ():
        if each.HasField("t"):
            return Tensor(tuple(each.t.dims), _element_bytes(each.t.data_type))
        if each.HasField("sparse_tensor"):
            values = each.sparse_tensor.values
            return Tensor(tuple(values.dims), _element_bytes(values.data_type))
    return Tensor(None, UNKNOWN)


def _tensor_of(value: "ValueInfoProto") -> Tensor:
    kind: Any = value.type.tensor_type
    shape = None
    if kind.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in kind.shape.dim]
        shape = tuple(sizes) if min(sizes, default=0) >= 0 else None
    return Tensor(shape, _element_bytes(kind.elem_type))


def _element_bytes(data_type: int) -> float:
    return BITS[data_type] / 8.0 if data_type in BITS else UNKNOWN


FORMAT = Format(
    "onnx",
    about="ONNX: a model; needs the extra `onnx`",
    read_bytes=read,
    read_sized=read,
    signs=Signs(endings=(".onnx",)),
)
