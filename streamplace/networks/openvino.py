"""Reader of OpenVINO's intermediate representation (IR), versions 10 and 11: the XML file.

The weights in the .bin file are not read, since the XML states their shapes.
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.sizes import NO_SIZES, Input, Sizes, open_dimensions
from streamplace.formats.xml import attribute, inside, parse_xml, root_pattern
from streamplace.networks import flops, formulas
from streamplace.networks.flops import FlopsByType, table
from streamplace.networks.openvino_shapes import Template, shape_of
from streamplace.networks.operation import Shape
from streamplace.networks.tensor_graph import Layer, Tensor, dataflow_graph
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph

FLOPS: FlopsByType = {
    **table("Convolution BinaryConvolution", flops.convolution()),  # outputs, inputs, kernel
    "GroupConvolution": flops.convolution(2),  # groups, outputs, inputs, kernel
    "DeformableConvolution": flops.convolution(weights=2),
    "ConvolutionBackpropData": flops.transposed_convolution(),  # inputs, outputs, kernel
    "GroupConvolutionBackpropData": flops.transposed_convolution(2),
    "MatMul": flops.product,
    "Einsum": flops.einstein_sum,
    "ScaledDotProductAttention": flops.attention,
    **table("GRUCell RNNCell AUGRUCell", flops.recurrent(2)),
    **table("LSTMCell GRUSequence RNNSequence AUGRUSequence", flops.recurrent(3)),
    "LSTMSequence": flops.recurrent(4),
    **table("MaxPool AvgPool", flops.pooling),
    **table("DFT IDFT RDFT IRDFT", flops.last_axes_fourier),
    "STFT": flops.short_time_fourier(window=1),
    "ISTFT": flops.short_time_fourier(window=1, inverse=True),
    "Inverse": flops.per_matrix(formulas.inverse),
    **table("Softmax SoftMax LogSoftmax MVN GRN GroupNormalization RMS", flops.softmax),
    "BatchNormInference": flops.times(2),
    **table("NormalizeL2 RoPE", flops.times(3)),
    **table("I420toBGR I420toRGB NV12toBGR NV12toRGB", flops.times(5)),
    "LRN": flops.local_normalisation,
    "Interpolate": flops.resizing,
    "GridSample": flops.sampling,
    **table("ROIAlign ROIAlignRotated", flops.regions),
    **table("EmbeddingBagOffsets EmbeddingBagOffsetsSum EmbeddingBagPacked", flops.bags),
    **table("EmbeddingBagPackedSum EmbeddingSegmentsSum", flops.bags),
    "Bucketize": flops.binary_search(1),
    "SearchSorted": flops.binary_search(0),
    **table(
        "ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum AdaptiveAvgPool AdaptiveMaxPool Col2Im NonZero RegionYolo SegmentMax "
        "TopK",
        flops.reading,
    ),
    **table(
        "Parameter Result Const Constant Reshape Squeeze Unsqueeze ShapeOf Identity ReadValue "
        "Assign",
        flops.free,
    ),
    **table(
        "Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr "
        "BitwiseRightShift BitwiseXor Ceiling Clamp Cos Cosh Divide Equal Erf Exp Floor FloorMod "
        "Greater GreaterEqual IsFinite IsInf IsNaN Less LessEqual Log LogicalAnd LogicalNot "
        "LogicalOr LogicalXor Maximum Minimum Mod Multiply Negative NotEqual Power Round Select "
        "Sign Sin Sinh Sqrt SquaredDifference Subtract Tan",
        flops.elementwise,
    ),
    **table(
        "Elu Gelu HSigmoid HSwish HardSigmoid Mish PReLU PRelu ReLU Relu Selu Sigmoid SoftPlus "
        "SoftSign Swish Tanh",
        flops.elementwise,
    ),
    **table(
        "BatchToSpace Broadcast Concat Convert ConvertLike ConvertPromoteTypes CumSum DepthToSpace "
        "ExtractImagePatches Eye FakeConvert FakeQuantize Gather GatherElements GatherND "
        "GatherTree OneHot Pad PriorBox PriorBoxClustered RandomUniform Range ReorgYolo "
        "ReverseSequence Roll ScatterElementsUpdate ScatterNDUpdate ScatterUpdate ShuffleChannels "
        "Slice SliceScatter SpaceToBatch SpaceToDepth Split StridedSlice Tile Transpose "
        "VariadicSplit",
        flops.elementwise,
    ),
}
"""Type -> its function."""

VERSIONS = ("10", "11")
WITH_STATE = frozenset({"ReadValue", "Assign", "RandomUniform", "Multinomial"})
BODIES = ("body", "then_body", "else_body")
"""The graphs inside of ``TensorIterator`` and ``Loop``, and of ``If``."""
Port = tuple[str, str]
"""The ids of a layer and of one of its ports."""
_BITS = re.compile(r"(?:FP|BF|I|U|F|NF)(\d+)(?:E\d+M\d+)?", re.ASCII)
_SIZE = re.compile(r"\d{1,18}", re.ASCII)


def read(text: str, where: str, sizes: Sizes = NO_SIZES) -> LogicalGraph:
    """Read a model; layers that are not constants become operators with the same names.

    Parameters
    ----------
    sizes
        Sizes of the inputs' dimensions that the file leaves open.

    Raises
    ------
    UsageError
        If the sizes do not fit the model.
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a graph without cycles.
    """
    root = parse_xml(text, where, "net")
    version = root.get("version", "")
    if version not in VERSIONS:
        raise FormatError(
            f"{where}: <net>: version must be {' or '.join(VERSIONS)} (got {version!r:.40}); "
            "convert the model with a newer OpenVINO"
        )
    layers, notes = _with_sizes(root, _layers(root, where), sizes, where)
    logical = dataflow_graph(layers, FLOPS, where, root.get("name", ""))
    return replace(logical, notes=[*logical.notes, *notes])


def _with_sizes(
    root: Element, layers: list[Layer], sizes: Sizes, where: str
) -> tuple[list[Layer], list[str]]:
    """Return the layers with shapes that follow from stated sizes, and notes on open ones."""
    elements = inside(root, "layers", "layer")
    inputs = {i: _input(elements[i], a.name) for i, a in enumerate(layers) if a.type == "Parameter"}
    known, shapes = sizes.of([*inputs.values()], where)
    notes = open_dimensions(inputs.values(), sizes)
    if not sizes:
        return layers, notes
    found: dict[Hashable, Shape] = {}
    stopped = set()
    for i in _in_order(layers):
        layer, data = layers[i], dict(_data(elements[i]).items())
        read = [found.get(key) for key in layer.inputs if key is not None]
        outputs = {}
        for (key, tensor), (_, port) in zip(
            layer.outputs.items(), _ports(elements[i], "output", ""), strict=True
        ):
            shape = tensor.shape
            if shape is None and i in inputs:
                shape = shapes.get(layer.name) or _stated_shape(inputs[i], known)
            elif shape is None:
                shape = shape_of(layer.type, read, _template(port), data)
                if shape is None and None not in read:
                    stopped.add(layer.type)
            found[key] = shape
            outputs[key] = replace(tensor, shape=shape)
        layers[i] = replace(layer, outputs=outputs)
    if stopped:
        notes.append(
            f"the shapes of what {listed(sorted(stopped))} emits do not follow from those that it "
            "reads; export the model with fixed shapes, as by OpenVINO's model.reshape()"
        )
    return layers, notes


def _in_order(layers: Sequence[Layer]) -> list[int]:
    """Return the layers behind those that they read; none if there is a cycle."""
    producer = {key: i for i, layer in enumerate(layers) for key in layer.outputs}
    read = {i: [producer[key] for key in layer.read] for i, layer in enumerate(layers)}
    try:
        return [*TopologicalSorter(read).static_order()]
    except CycleError:
        return []


def _input(element: Element, name: str) -> Input:
    ports = [port for _, port in _ports(element, "output", "")]
    is_ranked = _data(element).get("shape", "").strip() != "..." and ports
    return Input(name, _template(ports[0]) if is_ranked else None)


def _stated_shape(shape: Input, known: Mapping[str, int]) -> Shape:
    """Return the shape of an input whose open dimensions may be stated."""
    sizes = [
        size if isinstance(size, int) else known.get(shape.dimension(i))
        for i, size in enumerate(shape.axes or ())
    ]
    found = tuple(size for size in sizes if size is not None)
    return found if shape.axes is not None and len(found) == len(sizes) else None


def _layers(network: Element, where: str) -> list[Layer]:
    """Return the layers of a ``<net>``, or of the body of one of its layers."""
    elements: dict[str, Element] = {}
    for element in inside(network, "layers", "layer"):
        number = attribute(element, "id", where)
        if number in elements:
            raise FormatError(f"{where}: <layer>: id {number!r:.40} appears twice")
        elements[number] = element
    if not elements:
        raise FormatError(f"{where}: contains no <layer>")
    sent = _connections(network, elements, where)
    return [_layer(number, element, sent, where) for number, element in elements.items()]


def _connections(root: Element, layers: Mapping[str, Element], where: str) -> dict[Port, Port]:
    """Return each port that receives a tensor -> the port that sends it."""
    ports = {
        direction: {
            (number, port)
            for number, layer in layers.items()
            for port, _ in _ports(layer, direction, where)
        }
        for direction in ("input", "output")
    }
    sent: dict[Port, Port] = {}
    for i, edge in enumerate(inside(root, "edges", "edge")):
        place = f"{where}: edge {i}"
        ends = {}
        for end, direction in (("from", "output"), ("to", "input")):
            port = attribute(edge, f"{end}-layer", place), attribute(edge, f"{end}-port", place)
            if port not in ports[direction]:
                raise FormatError(
                    f"{place}: layer {port[0]!r:.40} has no {direction} port {port[1]!r:.40}"
                )
            ends[end] = port
        if sent.setdefault(ends["to"], ends["from"]) != ends["from"]:
            raise FormatError(f"{place}: another edge leads to the same port")
    return sent


def _layer(number: str, element: Element, sent: Mapping[Port, Port], where: str) -> Layer:
    name = element.get("name") or number
    kind = attribute(element, "type", f"{where}: layer {name!r:.40}")
    place = f"{where}: layer {name!r:.40}"
    data = _data(element)
    inputs: list[Hashable] = []
    for port, _ in _ports(element, "input", where):
        if (number, port) not in sent:
            raise FormatError(f"{place}: no edge leads to input port {port!r:.40}")
        inputs.append(sent[number, port])
    return Layer(
        name,
        kind,
        inputs,
        {(number, port): _tensor(each, place) for port, each in _ports(element, "output", where)},
        is_constant=kind == "Const",
        keeps_state=kind in WITH_STATE,
        variable=data.get("variable_id", ""),
        bodies=[_layers(body, place) for kind in BODIES for body in inside(element, kind)],
        kernel=_sizes(data.get("kernel", ""), place),
        transposed=data.get("transpose_a", "").lower() in ("true", "1"),
        equation=data.get("equation", ""),
        mode=data.get("mode", ""),
        numbers={key: int(text) for key, text in data.items() if _SIZE.fullmatch(text)},
    )


def _data(layer: Element) -> Element:
    """Return the element with the attributes of a layer."""
    return next(iter(inside(layer, "data")), Element("data"))


def _ports(layer: Element, direction: str, where: str) -> Iterator[tuple[str, Element]]:
    """Yield the ids and elements of the ports of a layer: ``input`` or ``output``."""
    for port in inside(layer, direction, "port"):
        yield attribute(port, "id", where), port


def _tensor(port: Element, place: str) -> Tensor:
    template = _template(port, place)
    found = tuple(size for size in template if size is not None)
    shape = found if len(found) == len(template) else None
    return Tensor(shape, _element_bytes(port.get("precision", "")))


def _template(port: Element, place: str = "") -> Template:
    """Return the sizes of a tensor; None for those that the file leaves open: -1, ?, 1..8."""
    sizes = [(dim.text or "").strip() for dim in inside(port, "dim")]
    is_open = [size.startswith(("-", "?")) or ".." in size for size in sizes]
    return tuple(
        None if opened else _size(size, place) for size, opened in zip(sizes, is_open, strict=True)
    )


def _sizes(text: str, place: str) -> tuple[int, ...]:
    """Return the sizes in an attribute such as ``3, 3``."""
    return tuple(_size(part.strip(), place) for part in text.split(",")) if text.strip() else ()


def _size(text: str, place: str) -> int:
    if not _SIZE.fullmatch(text):
        raise FormatError(f"{place}: a size must be a whole number (got {text!r:.40})")
    return int(text)


def _element_bytes(precision: str) -> float:
    """Return the bytes of an element: 4 of FP32, 0.5 of U4; NaN if unknown, as of strings."""
    kind = precision.upper()
    if kind in ("BOOL", "BOOLEAN"):
        return 1.0
    if kind == "BIN":
        return 0.125
    match = _BITS.fullmatch(kind)
    return int(match[1]) / 8.0 if match else UNKNOWN


FORMAT = Format(
    "openvino",
    about="OpenVINO: the XML file of a model (IR 10 or 11)",
    read=read,
    read_sized=read,
    signs=Signs(text=root_pattern("net")),
)
