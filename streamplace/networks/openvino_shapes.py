"""Shapes of OpenVINO's layers after the sizes that a file leaves open are stated.

The file has shapes with open sizes, but not the values of constants such as the order of axes,
which are in the .bin file. A size is therefore taken only where shapes leave one possibility.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from math import prod

Template = tuple[int | None, ...]
"""Sizes of the axes; None: open."""
Known = tuple[int, ...]

PossibleShapes = Callable[[Sequence[Known], Template, Mapping[str, str]], Iterable[Known]]
"""Returns the shapes that are possible."""
MAX_AXES = 6
"""Above the number of axes whose orders are all tried: 720 of them."""


def shape_of(
    kind: str,
    inputs: Sequence[Known | None],
    template: Template,
    attributes: Mapping[str, str],
) -> Known | None:
    """Return the shape of what a layer emits; None if it does not follow.

    Parameters
    ----------
    inputs
        Shapes of what it reads; None: unknown.
    template
        The shape that the file states.
    attributes
        The attributes of the layer.
    """
    known = [shape for shape in inputs if shape is not None]
    if len(known) < len(inputs) or not known:
        return None
    possible = POSSIBLE.get(kind)
    if possible is None:
        return None
    try:
        return _only(possible(known, template, attributes), template)
    except (IndexError, KeyError, ValueError):  # an input or attribute that the type requires
        return None


def _only(shapes: Iterable[Known], template: Template) -> Known | None:
    """Return the one shape that fits the sizes that are stated."""
    found = {
        shape
        for shape in shapes
        if len(shape) == len(template)
        and all(own >= 0 and size in (None, own) for own, size in zip(shape, template, strict=True))
    }
    return found.pop() if len(found) == 1 else None


def _common(shapes: Sequence[Known]) -> Known:
    """Return the shape to which all are broadcast; axes of size 1 are repeated."""
    axes = max(map(len, shapes))
    aligned = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*aligned, strict=True))


def _broadcast(inputs: Sequence[Known], *_: object) -> list[Known]:
    return [_common(inputs)]


def _as_first(inputs: Sequence[Known], *_: object) -> list[Known]:
    return [inputs[0]]


def _with_count(inputs: Sequence[Known], template: Template, *_: object) -> list[Known]:
    """Return the shape with the same number of elements, if only one of its sizes is open."""
    count = prod(inputs[0])
    stated = prod(size for size in template if size is not None)
    if template.count(None) != 1 or not stated or count % stated:
        return []
    return [tuple(count // stated if size is None else size for size in template)]


def _transpose(inputs: Sequence[Known], *_: object) -> set[Known]:
    return {*permutations(inputs[0])} if len(inputs[0]) <= MAX_AXES else set()


def _gather(inputs: Sequence[Known], *_: object) -> list[Known]:
    table, indices = inputs[:2]
    return [table[:i] + indices + table[i + 1 :] for i in range(len(table))]


def _attention(inputs: Sequence[Known], *_: object) -> list[Known]:
    return [inputs[0][:-1] + inputs[2][-1:]]


def _product(inputs: Sequence[Known], _: Template, attributes: Mapping[str, str]) -> list[Known]:
    left, right = inputs[:2]
    if len(left) < 2 or len(right) < 2:  # noqa: PLR2004 - a vector has no rows
        return []
    rows = left[-1] if _is_true(attributes, "transpose_a") else left[-2]
    columns = right[-2] if _is_true(attributes, "transpose_b") else right[-1]
    return [(*_common([left[:-2], right[:-2]]), rows, columns)]


def _concatenation(
    shapes: Sequence[Known], _: Template, attributes: Mapping[str, str]
) -> list[Known]:
    first, axis = shapes[0], int(attributes["axis"])
    if not -len(first) <= axis < len(first) or len({*map(len, shapes)}) > 1:
        return []
    total = sum(shape[axis] for shape in shapes)
    return [tuple(total if i == axis % len(first) else size for i, size in enumerate(first))]


def _cut(inputs: Sequence[Known], template: Template, *_: object) -> list[Known]:
    """Return the shape of a part if its stated sizes say which axis is cut."""
    pairs = [*zip(inputs[0], template, strict=False)]
    if all(size in (None, own) for own, size in pairs):
        return []
    return [tuple(own if size is None else size for own, size in pairs)]


def _reduction(
    inputs: Sequence[Known], template: Template, attributes: Mapping[str, str]
) -> list[Known]:
    first = inputs[0]
    if not _is_true(attributes, "keep_dims"):
        return [*combinations(first, len(template))]
    if len(first) != len(template):
        return []
    return [tuple(own if size is None else size for own, size in zip(first, template, strict=True))]


def _convolution(
    inputs: Sequence[Known], template: Template, attributes: Mapping[str, str]
) -> list[Known]:
    """Return the shape of a convolution or of pooling; only sizes that are open are computed."""
    first, axes = inputs[0], len(template) - 2
    pooling = "kernel" in attributes
    kernel = _numbers(attributes, "kernel", axes, 1) if pooling else inputs[1][-axes:]
    stride = _numbers(attributes, "strides", axes, 1)
    spread = _numbers(attributes, "dilations", axes, 1)
    before, after = (_numbers(attributes, f"pads_{end}", axes, 0) for end in ("begin", "end"))
    if len(first) != len(template) or axes < 1 or len(kernel) != axes or 0 in stride:
        return []
    channels = first[1] if pooling else template[1]
    found = [first[0], channels]
    same = attributes.get("auto_pad", "").startswith("same")
    upwards = attributes.get("rounding_type", "floor") != "floor"
    for i in range(axes):
        if same:
            steps = -(-first[2 + i] // stride[i]) - 1
        else:
            room = first[2 + i] + before[i] + after[i] - spread[i] * (kernel[i] - 1) - 1
            steps = -(-room // stride[i]) if upwards else room // stride[i]
        found.append(template[2 + i] if template[2 + i] is not None else steps + 1)
    return [tuple(size for size in found if size is not None)]


def _numbers(attributes: Mapping[str, str], name: str, count: int, default: int) -> list[int]:
    """Return numbers such as ``3, 3``; the default `count` times if they are not stated."""
    parts = [part.strip() for part in attributes.get(name, "").split(",")]
    if not all(part.isdecimal() for part in parts):
        return [default] * count
    return [int(part) for part in parts]


def _is_true(attributes: Mapping[str, str], name: str) -> bool:
    return attributes.get(name, "").lower() in ("true", "1")


def _table(types: str, possible: PossibleShapes) -> dict[str, PossibleShapes]:
    return dict.fromkeys(types.split(), possible)


POSSIBLE: dict[str, PossibleShapes] = {
    **_table(
        "Add BitwiseAnd BitwiseLeftShift BitwiseOr BitwiseRightShift BitwiseXor Divide Equal "
        "FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor Maximum "
        "Minimum Mod Multiply NotEqual Power Select SquaredDifference Subtract",
        _broadcast,
    ),
    **_table(
        "Abs Acos Acosh Asin Asinh Atan Atanh BatchNormInference BitwiseNot Ceiling Clamp Convert "
        "ConvertLike Cos Cosh CumSum Elu Erf Exp FakeConvert FakeQuantize Floor GRN Gelu "
        "GroupNormalization HSigmoid HSwish HardSigmoid Identity Inverse IsFinite IsInf IsNaN LRN "
        "Log LogSoftmax LogicalNot MVN Mish Negative NormalizeL2 PReLU PRelu RMS ReLU Relu "
        "ReverseSequence Roll RoPE Round ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Selu "
        "Sigmoid Sign Sin Sinh SoftMax SoftPlus SoftSign Softmax Sqrt Swish Tan Tanh",
        _as_first,
    ),
    **_table("DepthToSpace Reshape ShuffleChannels SpaceToDepth Squeeze Unsqueeze", _with_count),
    "Transpose": _transpose,
    "MatMul": _product,
    "Concat": _concatenation,
    "Gather": _gather,
    "ScaledDotProductAttention": _attention,
    **_table("Split VariadicSplit", _cut),
    **_table(
        "ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum",
        _reduction,
    ),
    **_table("Convolution BinaryConvolution GroupConvolution MaxPool AvgPool", _convolution),
}
"""Type -> what returns its possible shapes."""
