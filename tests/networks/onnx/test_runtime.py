"""Models of ONNX, and types of their operators at run time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from streamplace.formats.documents import read_document
from streamplace.networks.onnx.runtime import FLOPS, PREFIX
from streamplace.problem.graph import StreamGraph

onnx = pytest.importorskip("onnx", reason="onnx is not installed (the extra onnx)")
helper = pytest.importorskip("onnx.helper")
FLOAT, INT8, UINT8 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT8, onnx.TensorProto.UINT8
SCALE = ("scale", FLOAT, ())
POINT = ("point", UINT8, ())
Constant = tuple[str, int, tuple[int, ...]]


def graph_of(
    tmp_path: Path,
    nodes: Sequence[Any],
    inputs: Sequence[Constant],
    constants: Sequence[Constant],
    result: str,
    opset: int = 17,
) -> StreamGraph:
    """Return the graph of a model whose weights have no data."""
    weights = [onnx.TensorProto(name=n, data_type=kind, dims=dims) for n, kind, dims in constants]
    found = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(result, FLOAT, None)],
        weights,
    )
    domains = {"": opset, "com.microsoft": 1, "com.microsoft.nchwc": 1}
    opsets = [helper.make_opsetid(*each) for each in domains.items()]
    file = tmp_path / "model.onnx"
    model = helper.make_model(found, opset_imports=opsets, ir_version=8)
    file.write_bytes(model.SerializeToString())
    return read_document(str(file), "onnx").graph


def own(kind: str, inputs: Sequence[str], output: str, **attributes: object) -> Any:
    """Return a node of ONNX Runtime, with the name of its output."""
    return helper.make_node(
        kind, inputs, [output], name=output, domain="com.microsoft", **attributes
    )


def blocked(kind: str, inputs: Sequence[str], output: str, **attributes: object) -> Any:
    """Return a node of ONNX Runtime for images whose channels are stored in blocks."""
    node = own(kind, inputs, output, **attributes)
    node.domain = "com.microsoft.nchwc"
    return node


def instructions(graph: StreamGraph) -> dict[str, float]:
    """Return the instructions of the operators that are not inputs."""
    return {o.name: o.instructions for o in graph.operators if o.type != "Input"}


def test_a_quantised_network_costs_as_much_as_the_network(tmp_path: Path) -> None:
    """A block with a shortcut, pooling and a product; no shape within it is stated."""
    quantised = ["scale", "point"]
    nodes = [
        helper.make_node(
            "QLinearConv",
            ["x", *quantised, "w", *quantised, *quantised],
            ["conv"],
            name="conv",
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
        ),
        own("QLinearAdd", ["conv", *quantised, "x", *quantised, *quantised], "add"),
        own("QLinearSigmoid", ["add", *quantised, *quantised], "sigmoid"),
        own("QLinearConcat", [*quantised, "add", *quantised, "sigmoid", *quantised], "cat", axis=1),
        own("QLinearGlobalAveragePool", ["cat", *quantised, *quantised], "pool"),
        helper.make_node("Flatten", ["pool"], ["flat"], name="flat"),
        own("QGemm", ["flat", *quantised, "v", *quantised, "", *quantised], "gemm", transB=1),
        own("QLinearSoftmax", ["gemm", *quantised, *quantised], "soft", axis=1, opset=13),
        helper.make_node("DequantizeLinear", ["soft", *quantised], ["y"], name="y"),
    ]
    constants = [SCALE, POINT, ("w", UINT8, (4, 4, 3, 3)), ("v", UINT8, (10, 8))]
    graph = graph_of(tmp_path, nodes, [("x", UINT8, (1, 4, 9, 9))], constants, "y")
    image = 4 * 9 * 9
    assert instructions(graph) == {
        "conv": 2 * image * 4 * 3 * 3,
        "add": image,
        "sigmoid": image,
        "cat": 2 * image,
        "pool": 2 * image,
        "flat": 0,
        "gemm": 2 * 10 * 8,
        "soft": 5 * 10,
        "y": 10,
    }
    assert graph.payload_bytes[graph.index["cat"]] == 2 * image  # one byte each
    assert graph.type[graph.index["gemm"]] == "com.microsoft.QGemm"
    ends = {(s.source, s.target) for s in graph.streams}
    assert {("x", "conv"), ("x", "add"), ("add", "cat"), ("sigmoid", "cat")} <= ends


def test_images_with_channels_in_blocks(tmp_path: Path) -> None:
    """As the optimiser writes them for a processor: 10 channels are stored as 16."""

    nodes = [
        blocked("ReorderInput", ["x"], "in"),
        blocked("Conv", ["in", "w"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        blocked("MaxPool", ["conv"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        blocked("ReorderOutput", ["pool"], "out", channels=10),
        helper.make_node("Flatten", ["out"], ["flat"], name="flat"),
        helper.make_node("Gemm", ["flat", "v"], ["y"], name="y"),
    ]
    constants = [("w", FLOAT, (16, 8, 3, 3)), ("v", FLOAT, (40, 5))]
    graph = graph_of(tmp_path, nodes, [("x", FLOAT, (1, 8, 4, 4))], constants, "y")
    assert instructions(graph) == {
        "in": 8 * 16,
        "conv": 2 * 16 * 16 * 8 * 3 * 3,
        "pool": 16 * 4 * 2 * 2,
        "out": 10 * 4,
        "flat": 0,
        "y": 2 * 40 * 5,
    }
    assert graph.type[graph.index["conv"]] == "com.microsoft.nchwc.Conv"


@pytest.mark.parametrize(("mode", "operations"), [("nearest", 1), ("linear", 8)])
def test_enlarged_images_with_channels_in_blocks(
    mode: str, operations: int, tmp_path: Path
) -> None:
    """As ONNX Runtime 1.31 writes ``Resize``; slices of opset 9 have no further inputs."""
    nodes = [
        blocked("Conv", ["x", "w"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        blocked("Upsample", ["conv"], "up", mode=mode, scales=[1, 1, 2, 3]),
        blocked("ReorderOutput", ["up"], "out", channels=10, channels_last=0),
        helper.make_node(
            "Slice", ["out"], ["y"], name="y", axes=[1, 2], starts=[1, 2], ends=[5, 7]
        ),
    ]
    constants = [("w", FLOAT, (16, 8, 3, 3))]
    graph = graph_of(tmp_path, nodes, [("x", FLOAT, (1, 8, 4, 4))], constants, "y", opset=9)
    assert instructions(graph) == {
        "conv": 2 * 16 * 16 * 8 * 3 * 3,
        "up": operations * 16 * 8 * 12,
        "out": 10 * 8 * 12,
        "y": 4 * 5 * 12,
    }


def test_images_with_the_channels_last(tmp_path: Path) -> None:
    """As ONNX Runtime 1.31 writes quantised convolutions, pooling, and transposed images."""
    quantised = ["scale", "point"]
    ones = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        own(
            "QLinearConv",
            ["x", *quantised, "w", *quantised, *quantised],
            "conv",
            channels_last=1,
            **ones,
        ),
        own("NhwcMaxPool", ["conv"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("DequantizeLinear", ["pool", *quantised], ["wide"], name="wide"),
        blocked("ReorderInput", ["wide"], "in", channels_last=1),
        blocked("Conv", ["in", "v"], "blocked", **ones),
        blocked("ReorderOutput", ["blocked"], "out", channels=10, channels_last=1),
        helper.make_node("ReduceMean", ["out"], ["y"], name="y", axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["y", "u"], ["z"], name="z"),
    ]
    weights = [("v", FLOAT, (16, 8, 3, 3)), ("u", FLOAT, (10, 5))]
    constants = [SCALE, POINT, ("w", UINT8, (8, 4, 3, 3)), *weights]
    graph = graph_of(tmp_path, nodes, [("x", UINT8, (1, 6, 4, 4))], constants, "z")
    assert instructions(graph) == {
        "conv": 2 * (6 * 4 * 8) * 4 * 3 * 3,
        "pool": (3 * 2 * 8) * 2 * 2,
        "wide": 3 * 2 * 8,
        "in": 3 * 2 * 8,
        "blocked": 2 * (3 * 2 * 16) * 8 * 3 * 3,
        "out": 3 * 2 * 10,
        "y": 3 * 2 * 10,
        "z": 2 * 5 * 10,
    }


def test_quantised_weights_take_what_they_are_stored_as(tmp_path: Path) -> None:
    """QDQ form: ONNX Runtime does not fold ``DequantizeLinear`` of a constant, nor a transposition.

    A transposition of weights that are not quantised takes as much as they do.
    """
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale"], ["wide"]),
        helper.make_node("Transpose", ["wide"], ["turned"]),
        helper.make_node("MatMul", ["x", "turned"], ["a"], name="a"),
        helper.make_node("Transpose", ["v"], ["plain"]),
        helper.make_node("MatMul", ["a", "plain"], ["y"], name="y"),
    ]
    constants = [("w", INT8, (32, 64)), SCALE, ("v", FLOAT, (7, 32))]
    graph = graph_of(tmp_path, nodes, [("x", FLOAT, (5, 64))], constants, "y")
    assert graph.memory_bytes.tolist() == [0, 32 * 64 + 4, 4 * 7 * 32]


def test_products_of_packed_and_of_transposed_matrices(tmp_path: Path) -> None:
    nodes = [
        own("MatMulNBits", ["x", "packed", "scales"], "a", K=64, N=32, bits=4, block_size=32),
        own("FusedMatMul", ["a", "a"], "b", transB=1),
        own("FusedMatMul", ["b", "a"], "c", transA=1),
        own("FastGelu", ["c"], "d"),
        own("SkipLayerNormalization", ["d", "a", "gamma"], "e"),
        own("DynamicQuantizeMatMul", ["e", "w", "scale"], "y"),
    ]
    constants = [
        ("packed", UINT8, (32, 2, 16)),
        ("scales", FLOAT, (64,)),
        ("gamma", FLOAT, (32,)),
        ("w", INT8, (32, 7)),
        SCALE,
    ]
    graph = graph_of(tmp_path, nodes, [("x", FLOAT, (2, 5, 64))], constants, "y")
    assert instructions(graph) == {
        "a": 2 * (2 * 5 * 32) * 64,
        "b": 2 * (2 * 5 * 5) * 32,
        "c": 2 * (2 * 5 * 32) * 5,
        "d": 2 * 5 * 32,
        "e": 5 * (2 * 5 * 32),
        "y": 2 * (2 * 5 * 7) * 32,
    }
    assert graph.memory_bytes[graph.index["a"]] == 32 * 2 * 16 + 4 * 64  # as packed


def test_attention(tmp_path: Path) -> None:
    """4 heads of size 8: a projection with attention, then attention that shares two heads."""
    nodes = [
        own("Attention", ["x", "w"], "a", num_heads=4),
        own("MultiHeadAttention", ["a", "a", "a"], "b", num_heads=4),
        own(
            "GroupQueryAttention",
            ["b", "k", "k", "", "", "lengths", "total"],
            "y",
            num_heads=4,
            kv_num_heads=2,
        ),
    ]
    inputs = [("x", FLOAT, (2, 5, 10)), ("k", FLOAT, (2, 7, 16))]
    whole = onnx.TensorProto.INT32
    constants = [("w", FLOAT, (10, 96)), ("lengths", whole, (2,)), ("total", whole, ())]
    graph = graph_of(tmp_path, nodes, inputs, constants, "y")
    pair = 2 * 8 + 2 * 8 + 5
    assert instructions(graph) == {
        "a": 2 * (2 * 5 * 96) * 10 + 2 * 4 * 5 * 5 * pair,
        "b": 2 * 4 * 5 * 5 * pair,
        "y": 2 * 4 * 5 * 7 * pair,
    }


def test_nodes_that_lack_inputs_are_unknown(tmp_path: Path) -> None:
    nodes = [own("Attention", ["x"], "a", num_heads=4), own("QGemm", ["a"], "y")]
    graph = graph_of(tmp_path, nodes, [("x", FLOAT, (2, 5, 10))], [], "y")
    assert graph.unknown["instructions"] == ["a", "y"]


WITHOUT_A_RULE = {
    # they run a body, or as many steps as the data need
    "If", "Loop", "Scan", "SequenceMap", "NonMaxSuppression", "MaxRoiPool", "Multinomial", "Unique",
    # text and images
    "ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit",
    "TfIdfVectorizer",
    # others
    "LinearAttention", "MelWeightMatrix", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss",
}  # fmt: skip


def test_every_type_of_onnx_has_a_rule_or_is_unknown_on_purpose() -> None:
    defs = pytest.importorskip("onnx.defs", reason="onnx is not installed (the extra onnx)")
    schemas = defs.get_all_schemas_with_history()
    types = {schema.name for schema in schemas if schema.domain == ""}
    own = {kind for kind in FLOPS if not kind.startswith((PREFIX, "ai.onnx.ml."))}
    assert own - types == {"Input"}
    assert types - own == WITHOUT_A_RULE


def test_rules_of_machine_learning_are_of_types_that_exist() -> None:
    defs = pytest.importorskip("onnx.defs", reason="onnx is not installed (the extra onnx)")
    types = {
        f"{schema.domain}.{schema.name}"
        for schema in defs.get_all_schemas_with_history()
        if schema.domain == "ai.onnx.ml"
    }
    assert {kind for kind in FLOPS if kind.startswith("ai.onnx.ml.")} <= types
