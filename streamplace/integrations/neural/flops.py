"""Estimates of the floating-point operations of an operator, from its type and its shapes.

A multiplication and an addition are one operation each, and so are functions such as exp and tanh.
Types have the names of OpenVINO and ONNX.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamplace.problem.graph import UNKNOWN

Shape = tuple[int, ...] | None
"""Sizes of the axes of a tensor; None: unknown."""
SOFTMAX = 5  # maximum, difference, exp, sum and quotient


@dataclass(frozen=True)
class Operation:
    """What the cost of an operator depends on.

    Parameters
    ----------
    inputs, outputs
        Shapes of the tensors that it reads, constants included, and of those that it emits.
    kernel
        Sizes of the window of a pooling operator.
    transposed
        Whether the first factor of a product is transposed.
    equation
        The equation of an Einstein sum, such as ``ij,jk->ik``.
    """

    type: str
    inputs: Sequence[Shape]
    outputs: Sequence[Shape]
    kernel: Sequence[int] = ()
    transposed: bool = False
    equation: str = ""

    def input(self, i: int) -> Shape:
        """Return the shape of an input; None if it is absent or unknown."""
        return self.inputs[i] if i < len(self.inputs) else None

    @property
    def emitted(self) -> float:
        """Number of elements of all outputs; NaN if unknown."""
        return sum((elements(shape) for shape in self.outputs), 0.0)


def elements(shape: Shape) -> float:
    """Return the number of elements of a tensor; NaN if unknown."""
    if shape is None:
        return UNKNOWN
    count = 1.0
    for size in shape:
        count *= size
    return 0.0 if 0 in shape else count


def estimated_flops(operation: Operation) -> float:
    """Return the floating-point operations of one run; NaN if unknown.

    Types without a rule count one operation for each element that they emit; see `has_rule`.
    """
    kind = operation.type
    if kind in FREE:
        return 0.0
    if kind in RULES:
        return RULES[kind](operation)
    if kind.startswith(("Reduce", "Global")):
        return elements(operation.input(0))
    return operation.emitted


def has_rule(kind: str) -> bool:
    """Return whether a type is known, so that its estimate is not a guess."""
    return (
        kind in FREE
        or kind in RULES
        or kind in ELEMENTWISE
        or kind.startswith(("Reduce", "Global"))
    )


def _convolution(outputs_from: int) -> Callable[[Operation], float]:
    """Return the rule of a convolution, whose output channels end before an axis of its weights."""

    def rule(operation: Operation) -> float:
        weights = operation.input(1)
        if weights is None:
            return UNKNOWN
        return 2.0 * operation.emitted * elements(weights[outputs_from:])

    return rule


def _transposed_convolution(inputs_from: int) -> Callable[[Operation], float]:
    """Return the rule of a transposed convolution: each element of its input meets the weights."""

    def rule(operation: Operation) -> float:
        weights = operation.input(1)
        if weights is None:
            return UNKNOWN
        return 2.0 * elements(operation.input(0)) * elements(weights[inputs_from:])

    return rule


def _product(operation: Operation) -> float:
    left = operation.input(0)
    if left is None:
        return UNKNOWN
    if not left:
        return operation.emitted
    inner = left[-2] if operation.transposed and len(left) > 1 else left[-1]
    return 2.0 * operation.emitted * inner


def _recurrent(weights: int) -> Callable[[Operation], float]:
    """Return the rule of a recurrent layer, from the index of its first two weights."""

    def rule(operation: Operation) -> float:
        first, second = (elements(operation.input(i)) for i in (weights, weights + 1))
        sequence = operation.input(0)
        return UNKNOWN if sequence is None else 2.0 * elements(sequence[:-1]) * (first + second)

    return rule


def _pooling(operation: Operation) -> float:
    window = operation.kernel
    return elements(operation.outputs[0] if operation.outputs else None) * elements(tuple(window))


def _softmax(operation: Operation) -> float:
    return SOFTMAX * operation.emitted


def _attention(operation: Operation) -> float:
    """Return the work of softmax(Q Kᵀ) V for Q of (…, L, E), K of (…, S, E) and V of (…, S, F)."""
    query, key, value = (operation.input(i) for i in range(3))
    if not (query and key and value) or min(map(len, (query, key, value))) < 2:  # noqa: PLR2004 - axes
        return UNKNOWN
    pairs = elements(query[:-1]) * key[-2]
    return pairs * (2.0 * query[-1] + 2.0 * value[-1] + SOFTMAX)


def _einstein_sum(operation: Operation) -> float:
    """Return one multiplication and one addition for each combination of indices."""
    size: dict[str, int] = {}
    terms = operation.equation.replace(" ", "").partition("->")[0].split(",")
    for i, term in enumerate(terms):
        shape = operation.input(i)
        if shape is None or len(shape) != len(term):  # also an ellipsis
            return UNKNOWN
        size.update(zip(term, shape, strict=True))
    return 2.0 * elements(tuple(size.values()))


def _unknown(operation: Operation) -> float:
    """Return that the work is unknown: it depends on a body or on data."""
    return UNKNOWN


def _twice(operation: Operation) -> float:
    """Return one multiplication and one addition per element."""
    return 2.0 * operation.emitted


def _types(names: str) -> frozenset[str]:
    return frozenset(names.split())


RULES: dict[str, Callable[[Operation], float]] = {
    "Convolution": _convolution(1),  # weights: outputs, inputs, kernel
    "Conv": _convolution(1),
    "GroupConvolution": _convolution(2),  # groups, outputs, inputs, kernel
    "ConvolutionBackpropData": _transposed_convolution(1),  # inputs, outputs, kernel
    "ConvTranspose": _transposed_convolution(1),
    "GroupConvolutionBackpropData": _transposed_convolution(2),
    **dict.fromkeys(("MatMul", "Gemm"), _product),
    "Einsum": _einstein_sum,
    "ScaledDotProductAttention": _attention,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent(1)),  # ONNX
    **dict.fromkeys(("GRUCell", "RNNCell"), _recurrent(2)),  # OpenVINO
    **dict.fromkeys(("LSTMCell", "GRUSequence", "RNNSequence"), _recurrent(3)),
    "LSTMSequence": _recurrent(4),
    **dict.fromkeys(("MaxPool", "AvgPool", "AveragePool", "LpPool"), _pooling),
    **dict.fromkeys(("Softmax", "SoftMax", "LogSoftmax"), _softmax),
    **dict.fromkeys(("MVN", "LayerNormalization", "InstanceNormalization"), _softmax),
    **dict.fromkeys(("GroupNormalization", "RMSNormalization", "RMS"), _softmax),
    **dict.fromkeys(("BatchNormalization", "BatchNormInference"), _twice),
    **dict.fromkeys(("If", "Loop", "Scan", "TensorIterator"), _unknown),
}
"""Type -> its rule."""
FREE = _types(
    "Parameter Input Result Reshape Squeeze Unsqueeze Flatten ShapeOf Shape Size Identity Dropout "
    "ReadValue Assign Constant Const"
)
"""Types that compute and move nothing."""
ELEMENTWISE = _types(
    # arithmetic
    "Abs Add Ceil Ceiling Clamp Clip Cos Div Divide Equal Erf Exp FloorMod Floor Greater "
    "GreaterEqual GreaterOrEqual Less LessEqual LessOrEqual Log LogicalAnd LogicalNot LogicalOr "
    "Max Maximum Mean Min Minimum Mod Mul Multiply Neg Negative Not NotEqual And Or Pow Power "
    "Reciprocal Round Sign Sin Sqrt SquaredDifference Sub Subtract Sum Where Select "
    # activations
    "Elu Gelu HSigmoid HSwish HardSigmoid HardSwish LeakyRelu Mish PRelu PReLU ReLU Relu Selu "
    "Sigmoid SoftPlus Softplus Swish Tanh Celu ThresholdedRelu "
    # data movement and conversion
    "Broadcast Cast CastLike Concat Convert ConvertLike ConstantOfShape CumSum DepthToSpace "
    "Expand FakeQuantize Gather GatherElements GatherND Interpolate OneHot Pad "
    "QuantizeLinear DequantizeLinear Range Resize ReverseSequence Roll ScatterElements "
    "ScatterElementsUpdate ScatterND ScatterNDUpdate ScatterUpdate Slice SpaceToDepth Split "
    "StridedSlice Tile Transpose Trilu Upsample VariadicSplit"
)
"""Types that do about one operation for each element that they emit."""
