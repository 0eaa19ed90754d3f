"""Operators of ONNX Runtime that compute what operators of ONNX do.

They belong to the domain ``com.microsoft`` or, for images whose channels are stored in blocks, to
``com.microsoft.nchwc``. Quantisation and the optimiser of ONNX Runtime 1.32 put them into models.
ONNX does not infer their shapes. An equivalent node of ONNX therefore takes their place while
shapes are inferred, and its type gives their work.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamplace.networks import flops, formulas
from streamplace.networks.flops import FlopsByType, table

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

PREFIX = "com.microsoft."
BLOCKED = PREFIX + "nchwc."
"""What the optimiser makes of convolutions and pooling for the processor where it runs."""
REORDER_INPUT, REORDER_OUTPUT = BLOCKED + "ReorderInput", BLOCKED + "ReorderOutput"
NHWC_MAX_POOL = PREFIX + "NhwcMaxPool"
FLOPS: FlopsByType = {
    **table("Conv DeformConv ConvInteger CausalConvWithState", flops.convolution()),
    "QLinearConv": flops.convolution(weights=3),
    "ConvTranspose": flops.transposed_convolution(),
    **table("MatMul Gemm MatMulInteger QLinearMatMul AffineGrid", flops.product),
    "Einsum": flops.einstein_sum,
    "Attention": flops.onnx_attention,
    **table("LSTM GRU RNN", flops.recurrent(1)),
    **table("MaxPool AveragePool LpPool", flops.pooling),
    "DFT": flops.fourier,
    "STFT": flops.short_time_fourier(window=2),
    "Det": flops.per_matrix(lambda size: formulas.lu(size, size)),
    **table("Softmax LogSoftmax LayerNormalization InstanceNormalization", flops.softmax),
    **table("GroupNormalization RMSNormalization MeanVarianceNormalization", flops.softmax),
    "BatchNormalization": flops.times(2),
    **table("LpNormalization RotaryEmbedding DynamicQuantizeLinear", flops.times(3)),
    "LRN": flops.local_normalisation,
    **table("Resize Upsample", flops.resizing),
    "GridSample": flops.sampling,
    "RoiAlign": flops.regions,
    **table("Max Mean Min Sum", flops.joining),
    **table(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
        "ReduceSum ReduceSumSquare GlobalAveragePool GlobalLpPool GlobalMaxPool ArgMax ArgMin TopK "
        "NonZero Hardmax Col2Im",
        flops.reading,
    ),
    **table(
        "Input Constant Reshape Squeeze Unsqueeze Flatten Shape Size Identity Dropout BitCast "
        "Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength",
        flops.free,
    ),
    **table(
        "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr "
        "BitwiseXor Ceil Clip Cos Cosh Div Equal Erf Exp Floor Greater GreaterOrEqual IsInf IsNaN "
        "Less LessOrEqual Log Mod Mul Neg Not Or Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Tan "
        "Where Xor",
        flops.elementwise,
    ),
    **table(
        "Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu Relu Selu Shrink Sigmoid "
        "Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu",
        flops.elementwise,
    ),
    **table(
        "Bernoulli BlackmanWindow Cast CastLike CenterCropPad Compress Concat ConcatFromSequence "
        "ConstantOfShape CumProd CumSum DepthToSpace DequantizeLinear Expand EyeLike Gather "
        "GatherElements GatherND HammingWindow HannWindow MaxUnpool OneHot Pad QuantizeLinear "
        "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range ReverseSequence "
        "Scatter ScatterElements ScatterND Slice SpaceToDepth Split SplitToSequence TensorScatter "
        "Tile Transpose Trilu",
        flops.elementwise,
    ),
    **{
        f"ai.onnx.ml.{kind}": rule
        for kind, rule in {
            **table("Scaler Normalizer", flops.times(2)),
            **table("Binarizer Imputer LabelEncoder OneHotEncoder", flops.elementwise),
            **table("ArrayFeatureExtractor FeatureVectorizer", flops.elementwise),
        }.items()
    },
    **{
        PREFIX + kind: rule
        for kind, rule in {
            **table("MatMulNBits MatMulBnb4 MatMulFpQ4 GemmFloat8 QOrderedMatMul", flops.product),
            "MatMulBlockQuantizedFp8Weight": flops.product,
            "MatMulBlockQuantizedFp4Weight": flops.product,
            **table("Attention QAttention", flops.projected_attention),
            "DynamicQuantizeLSTM": flops.recurrent(1),
            "CDist": flops.distances,
            "Inverse": flops.per_matrix(formulas.inverse),
            **table("Rfft Irfft", flops.signal_fourier),
            **table("ComplexMul ComplexMulConj", flops.times(3)),
            "EmbedLayerNormalization": flops.times(flops.SOFTMAX + 2),
        }.items()
    },
}
"""Type -> its function; types of other domains than ONNX's begin with the domain."""


FLOAT, INT64 = 1, 7  # of `TensorProto.DataType`
COPY = "Identity"
"""The type whose result has the shape of its input."""


@dataclass(frozen=True)
class Equivalent:
    """A type of ONNX that computes the same.

    Parameters
    ----------
    type
        Its name; empty if only the shape of the result is that of another type.
    inputs
        Positions of its inputs among those of the node; None: left out.
    shaped_as
        The type that gives the shape of the result, if not the type itself: types of old opsets,
        which every model may use.
    heads
        Attributes with the numbers of heads of queries and of keys, for attention.
    """

    type: str
    inputs: Sequence[int | None] = (0,)
    shaped_as: str = ""
    heads: tuple[str, ...] = ()


_CONV = Equivalent("Conv", (0, 1, 2))
_PRODUCT = Equivalent("MatMul", (0, 1))
_OF_INTEGERS = Equivalent("MatMulInteger", (0, 1))
_PROJECTED = Equivalent("", (0, 1), "MatMul")  # its work has a rule of its own
_GELU = Equivalent("Gelu", shaped_as=COPY)
_NORM = Equivalent("LayerNormalization", shaped_as=COPY)
_GROUP_NORM = Equivalent("GroupNormalization", shaped_as=COPY)
EQUIVALENTS = {
    "SimplifiedLayerNormalization": _NORM,  # of the domain of ONNX, which does not define it
    PREFIX + "FusedConv": _CONV,
    PREFIX + "QLinearConv": Equivalent("QLinearConv", range(9)),
    PREFIX + "ConvTransposeWithDynamicPads": Equivalent("ConvTranspose", (0, 1, 3)),
    PREFIX + "FusedGemm": Equivalent("Gemm", (0, 1, 2)),
    PREFIX + "QGemm": Equivalent("Gemm", (0, 3, 6)),
    PREFIX + "FusedMatMul": _PRODUCT,
    PREFIX + "FusedMatMulActivation": _PRODUCT,
    PREFIX + "TransposeMatMul": _PRODUCT,
    PREFIX + "GemmFastGelu": _PRODUCT,
    PREFIX + "DynamicQuantizeMatMul": _PRODUCT,
    PREFIX + "MatMulIntegerToFloat": _OF_INTEGERS,
    PREFIX + "MatMulInteger16": _OF_INTEGERS,
    PREFIX + "MatMulNBits": _PRODUCT,
    PREFIX + "MatMulBnb4": _PRODUCT,
    PREFIX + "Attention": _PROJECTED,
    PREFIX + "QAttention": _PROJECTED,
    PREFIX + "MultiHeadAttention": Equivalent(
        "Attention", (0, 1, 2, 5, 6, 7), COPY, ("num_heads", "num_heads")
    ),
    PREFIX + "GroupQueryAttention": Equivalent(
        "Attention", (0, 1, 2, None, 3, 4), COPY, ("num_heads", "kv_num_heads")
    ),
    PREFIX + "RotaryEmbedding": Equivalent("RotaryEmbedding", (0, 2, 3, 1), COPY),
    PREFIX + "SkipLayerNormalization": _NORM,
    PREFIX + "SkipSimplifiedLayerNormalization": _NORM,
    PREFIX + "GroupNorm": _GROUP_NORM,
    PREFIX + "SkipGroupNorm": _GROUP_NORM,
    PREFIX + "EmbedLayerNormalization": Equivalent("", (2, 0), "Gather"),
    PREFIX + "Gelu": _GELU,
    PREFIX + "FastGelu": _GELU,
    PREFIX + "BiasGelu": _GELU,
    PREFIX + "QuickGelu": _GELU,
    PREFIX + "BiasSoftmax": Equivalent("Softmax"),
    PREFIX + "BiasAdd": Equivalent("Sum", (0, 1, 2)),
    PREFIX + "BiasDropout": Equivalent("Sum", (0, 1)),
    PREFIX + "QLinearAdd": Equivalent("Add", (0, 3)),
    PREFIX + "QLinearMul": Equivalent("Mul", (0, 3)),
    PREFIX + "QLinearWhere": Equivalent("Where", (0, 1, 4)),
    PREFIX + "QLinearSigmoid": Equivalent("Sigmoid"),
    PREFIX + "QLinearLeakyRelu": Equivalent("LeakyRelu"),
    PREFIX + "QLinearSoftmax": Equivalent("Softmax"),
    PREFIX + "QLinearAveragePool": Equivalent("AveragePool"),
    PREFIX + "QLinearGlobalAveragePool": Equivalent("GlobalAveragePool"),
    PREFIX + "QLinearReduceMean": Equivalent("ReduceMean"),
    PREFIX + "QLinearConcat": Equivalent("Concat", range(2, 3000, 3)),
    NHWC_MAX_POOL: Equivalent("MaxPool"),
    PREFIX + "QuantizeLinear": Equivalent("QuantizeLinear", (0, 1, 2)),
    PREFIX + "DequantizeLinear": Equivalent("DequantizeLinear", (0, 1, 2)),
    PREFIX + "Trilu": Equivalent("Trilu", (0, 1)),
    PREFIX + "Pad": Equivalent("Pad", (0, 1, 2)),
    PREFIX + "Range": Equivalent("Range", (0, 1, 2)),
    PREFIX + "GatherND": Equivalent("GatherND", (0, 1)),
    PREFIX + "GridSample": Equivalent("GridSample", (0, 1)),
    BLOCKED + "Conv": _CONV,
    BLOCKED + "MaxPool": Equivalent("MaxPool"),
    BLOCKED + "AveragePool": Equivalent("AveragePool"),
    BLOCKED + "GlobalMaxPool": Equivalent("GlobalMaxPool"),
    BLOCKED + "GlobalAveragePool": Equivalent("GlobalAveragePool"),
    BLOCKED + "Upsample": Equivalent("Resize", shaped_as="Tile"),
    REORDER_INPUT: Equivalent("Transpose", shaped_as=COPY),
    REORDER_OUTPUT: Equivalent("Transpose", shaped_as="Gather"),
}
"""Type, with its domain -> what it is equivalent to."""


def type_of(node: "NodeProto") -> str:
    """Return the type of a node; those of other domains than ONNX's begin with the domain."""
    domain = node.domain
    return node.op_type if domain in ("", "ai.onnx") else f"{domain}.{node.op_type}"


def inputs_of(node: "NodeProto") -> list[str]:
    """Return the inputs of a node in the order of its equivalent type, and then all others."""
    equivalent = EQUIVALENTS.get(type_of(node))
    if equivalent is None or not equivalent.type:
        return [*node.input]
    first = _inputs_of_equivalent(node, equivalent)
    return first + [name for name in node.input if name not in first]


def replace_for_inference(graph: "GraphProto") -> None:
    """Replace nodes in place by equivalent ones of ONNX, from which shapes can be inferred."""
    for i, node in reversed([*enumerate(graph.node)]):  # since some are added beside a node
        kind = type_of(node)
        equivalent = EQUIVALENTS.get(kind)
        if equivalent is None or not node.output:
            continue
        inputs = _inputs_of_equivalent(node, equivalent)
        node.domain, node.op_type = "", equivalent.shaped_as or equivalent.type
        numbers = {each.name: each.i for each in node.attribute}
        if node.op_type == "MatMul" and len(inputs) > 1:
            inputs[1:] = _weights(graph, node, numbers) or inputs[1:]
            if inputs[1] == node.input[1] and (numbers.get("transA") or numbers.get("transB")):
                left = "...ji" if numbers.get("transA") else "...ij"
                right = "...kj" if numbers.get("transB") else "...jk"
                node.op_type = "Einsum"
                node.attribute.add(name="equation", s=f"{left},{right}->...ik".encode(), type=3)
        elif node.op_type == COPY:
            del inputs[1:]
        elif node.op_type == "Tile":  # an axis is repeated as often as it is scaled
            scales = next((each.ints for each in node.attribute if each.name == "scales"), ())
            inputs.append(_constant(graph, node, [len(scales)], INT64, scales))
        elif kind == REORDER_OUTPUT:  # without the channels that fill the last block
            inputs.append(_constant(graph, node, [numbers.get("channels", 0)], INT64))
            node.attribute.add(name="axis", i=1, type=2)
        del node.input[:]
        node.input.extend(inputs)
        del node.output[1:]
        is_last = kind == NHWC_MAX_POOL or numbers.get("channels_last")
        if is_last and "GroupNorm" not in kind:  # which keeps the shape of any input
            _put_channels_first(graph, i, kind)


def _inputs_of_equivalent(node: "NodeProto", equivalent: Equivalent) -> list[str]:
    """Return the inputs of the equivalent node."""
    count = len(node.input)
    positions = [i for i in equivalent.inputs if i is None or i < count]
    return ["" if i is None else node.input[i] for i in positions]


def _put_channels_first(graph: "GraphProto", i: int, kind: str) -> None:
    """Transpose the images around a node, since types of ONNX have the channels before the axes."""
    node = graph.node[i]
    if kind != REORDER_INPUT:
        result, node.output[0] = node.output[0], f"{node.output[0]}: channels first"
        graph.node.insert(i + 1, _transposition(node, node.output[0], result, (0, 2, 3, 1)))
    if kind != REORDER_OUTPUT and node.input:
        image, node.input[0] = node.input[0], f"{node.output[0]}: input"
        graph.node.insert(i, _transposition(node, image, node.input[0], (0, 3, 1, 2)))


def _transposition(node: "NodeProto", image: str, result: str, axes: Sequence[int]) -> "NodeProto":
    """Return a node of the same class as `node`."""
    found = type(node)(op_type="Transpose", input=[image], output=[result])
    found.attribute.add(name="perm", ints=axes, type=7)
    return found


def _constant(
    graph: "GraphProto",
    node: "NodeProto",
    shape: Sequence[int],
    data_type: int,
    values: Sequence[int] = (),
) -> str:
    """Add a constant for a node, by default without data; return its name."""
    name = f"{node.output[0]}: constant"
    graph.initializer.add(name=name, dims=shape, data_type=data_type, int64_data=values)
    return name


def _weights(graph: "GraphProto", node: "NodeProto", numbers: Mapping[str, int]) -> list[str]:
    """Add a matrix of the shape that packed weights stand for, without data; return its name."""
    rows, columns = numbers.get("K", 0), numbers.get("N", 0)
    if "num_heads" in numbers:  # one matrix for query, key and value
        found = [each.dims for each in graph.initializer if each.name == node.input[1]]
        rows, columns = (found[0][0], found[0][-1] // 3) if found and found[0] else (0, 0)
    if not (rows and columns):
        return []
    return [_constant(graph, node, [rows, columns], FLOAT)]
