"""The reader of ONNX models."""

import sys
from pathlib import Path
from typing import Any

import pytest

from streamplace.errors import FormatError, UsageError
from streamplace.formats.documents import read_document, read_text_as
from streamplace.problem.logical import LogicalGraph
from streamplace.workflows.read_job import read_job
from tests.corpus.onnx_models import onnx_models
from tests.support.documents import edges
from tests.support.errors import fault_of

FILE = "model.onnx"


@pytest.fixture
def model() -> Any:
    """The small model of the corpus; the test is skipped if onnx is missing."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed (the extra onnx)")
    return onnx.load_model_from_string(onnx_models()[0].data)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(model: Any) -> LogicalGraph:
    """Write a model and read it."""
    return read_data(model.SerializeToString())


def read_data(data: bytes) -> LogicalGraph:
    """Write the bytes of a file and read it."""
    Path(FILE).write_bytes(data)
    return read_document(FILE, "onnx")


def refused(data: bytes) -> str:
    """Read the bytes of a file that must be refused, and return the reason."""
    with pytest.raises(FormatError) as caught:
        read_data(data)
    return fault_of(caught.value, FILE)


def test_shapes_are_inferred(model: Any) -> None:
    found = read(model)
    graph = found.graph
    assert graph.names == ("x", "conv", "total", "compare", "if", "flatten", "gemm")
    assert (graph.name, graph.firing, graph.multicast) == ("tiny", "all", "device")
    assert graph.output_shape[graph.index["gemm"]] == (1, 5)
    costs = dict(zip(graph.names, graph.instructions.tolist(), strict=True))
    assert costs["conv"] == 2 * 4 * 6 * 6 * 3 * 3 * 3
    assert costs["gemm"] == 2 * 5 * 144
    assert costs["total"] == 4 * 6 * 6
    assert graph.payload_bytes[graph.index["x"]] == 4 * 3 * 8 * 8
    assert graph.payload_bytes[graph.index["compare"]] == 1  # a truth value
    assert graph.unknown == {"instructions": ["if"]}
    assert found.cluster is None


def test_weights_are_memory_even_if_they_are_in_another_file(model: Any) -> None:
    graph = read(model).graph
    memory = dict(zip(graph.names, graph.memory_bytes.tolist(), strict=True))
    assert memory == {
        "x": 0,
        "conv": 4 * 4 * 3 * 3 * 3,
        "total": 0,
        "compare": 4,
        "if": 0,
        "flatten": 0,
        "gemm": 4 * (5 * 144 + 5),
    }


def test_weights_inside_of_bodies_are_memory(model: Any) -> None:
    """Those of both branches and of nested bodies; what is converted counts as converted."""
    onnx = pytest.importorskip("onnx")
    helper, float_ = onnx.helper, onnx.TensorProto.FLOAT
    half = onnx.TensorProto.FLOAT16
    weights = helper.make_tensor("weights", float_, [6, 6], bytes(4 * 36), raw=True)
    nested = helper.make_graph(
        [
            helper.make_node("Constant", [], ["own"], value=weights),
            helper.make_node("MatMul", ["conv_out", "own"], ["product"]),
            helper.make_node("Identity", ["more"], ["still"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", onnx.TensorProto.INT64, []),
            helper.make_tensor_value_info("more", onnx.TensorProto.BOOL, []),
        ],
        [
            helper.make_tensor_value_info("still", onnx.TensorProto.BOOL, []),
            helper.make_tensor_value_info("product", float_, None),
        ],
    )
    then, other = [each.g for each in model.graph.node[4].attribute]
    then.initializer.append(helper.make_tensor("half", half, [6, 6], bytes(2 * 36), raw=True))
    then.node.append(helper.make_node("Cast", ["half"], ["whole"], to=float_))
    then.node.append(helper.make_node("MatMul", ["conv_out", "whole"], ["scaled"]))
    then.node.append(helper.make_node("MatMul", ["scaled", "whole"], ["again"]))
    other.node.append(helper.make_node("Loop", ["", "is_large"], ["all"], body=nested))
    graph = read(model).graph
    assert graph.memory_bytes[graph.index["if"]] == 4 * 36 + 4 * 36


def test_weights_inside_of_functions_are_memory(model: Any) -> None:
    """Each call reads its own, also a call from a body."""
    onnx = pytest.importorskip("onnx")
    helper, opset = onnx.helper, [onnx.helper.make_opsetid("", 17)]
    weights = helper.make_tensor("weights", onnx.TensorProto.FLOAT, [6, 6], bytes(4 * 36), raw=True)
    constant = helper.make_node("Constant", [], ["w"], value=weights)
    body = [constant, helper.make_node("MatMul", ["a", "w"], ["b"])]
    model.functions.append(helper.make_function("org.example", "Own", ["a"], ["b"], body, opset))
    model.opset_import.append(helper.make_opsetid("org.example", 1))
    call = helper.make_node("Own", ["conv_out"], ["own"], domain="org.example")
    model.graph.node.insert(1, call)
    model.graph.node[5].attribute[0].g.node[0].CopyFrom(call)
    model.graph.node[5].attribute[0].g.output[0].name = "own"
    graph = read(model).graph
    assert graph.memory_bytes[graph.index["if"]] == 4 * 36
    assert graph.memory_bytes[graph.index["own"]] == 4 * 36


def test_bodies_read_tensors_of_the_graph_around_them(model: Any) -> None:
    """Both branches of `if` read the convolution's result, which is one stream."""
    assert edges(read(model)) == [
        ("compare", "if"),
        ("conv", "if"),
        ("conv", "total"),
        ("flatten", "gemm"),
        ("if", "flatten"),
        ("total", "compare"),
        ("x", "conv"),
    ]


def test_initializers_among_the_inputs_are_not_sources(model: Any) -> None:
    onnx = pytest.importorskip("onnx")
    weights = onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [4, 3, 3, 3])
    model.graph.input.append(weights)
    assert "w" not in read(model).graph.names


def test_dimensions_without_a_size_are_named_and_may_be_stated(model: Any) -> None:
    known = read(model).graph
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    found = read(model)
    assert "x" in found.graph.unknown["payload_bytes"]
    assert "conv" in found.graph.unknown["instructions"]
    assert any("dimension 'batch' of input 'x' is not fixed" in note for note in found.notes)
    for stated in (
        read_job(FILE, "onnx", dims={"batch": 1}),
        read_job(FILE, "onnx", inputs=["1x3x8x8"]),
    ):
        assert stated.graph == known
        assert not any("not fixed" in note for note in stated.notes)
    model.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    assert any("'x[0]' of input 'x' is not fixed" in note for note in read(model).notes)
    assert read_job(FILE, "onnx", dims={"x[0]": 1}).graph == known
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert any("not state the shape of input 'x'" in note for note in read(model).notes)
    assert read_job(FILE, "onnx", inputs=["1x3x8x8"]).graph == known
    with pytest.raises(UsageError, match=r"model\.onnx: --dim: no dimension is named 'batch'"):
        read_job(FILE, "onnx", dims={"batch": 1})


@pytest.mark.parametrize("batch", [2, "batch"])
def test_shapes_computed_from_known_shapes_are_constants(batch: int | str) -> None:
    """Exporters reshape by what they compute from the shape of another tensor."""
    onnx = pytest.importorskip("onnx")
    helper, float_ = onnx.helper, onnx.TensorProto.FLOAT
    numbers = {"first": [0], "three": [3], "two": [2], "rest": [-1]}
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["a"]),
            helper.make_node("Shape", ["a"], ["shape"]),
            helper.make_node("Mod", ["three", "two"], ["end"]),
            helper.make_node("Slice", ["shape", "first", "end"], ["rows"]),
            helper.make_node("Concat", ["rows", "rest"], ["form"], axis=0),
            helper.make_node("Reshape", ["a", "form"], ["flat"]),
            helper.make_node("Relu", ["flat"], ["y"]),
        ],
        "flattening",
        [helper.make_tensor_value_info("x", float_, [batch, 3, 4])],
        [helper.make_tensor_value_info("y", float_, None)],
        [helper.make_tensor(name, onnx.TensorProto.INT64, [1], v) for name, v in numbers.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    found = read(helper.make_model(graph, opset_imports=opset, ir_version=8)).graph
    if batch == "batch":
        assert {"shape", "rows", "form"} <= {*found.names}
    else:
        assert found.names == ("x", "a", "flat", "y")
        assert found.output_shape[found.index["y"]] == (2, 12)
        assert not found.unknown


def test_failed_inference_is_noted(model: Any) -> None:
    model.graph.node[0].attribute.clear()
    model.graph.initializer[0].dims[2] = 99
    found = read(model)
    assert "conv" in found.graph.unknown["instructions"]


def test_own_operators_are_unknown_and_named(model: Any) -> None:
    model.graph.node[1].op_type = "Relu"  # of another domain, so another operator
    model.graph.node[1].domain = "org.example"
    model.opset_import.append(pytest.importorskip("onnx.helper").make_opsetid("org.example", 1))
    found = read(model)
    assert found.graph.unknown["instructions"][0] == "total"
    assert "no rule gives the work of 2 types of operators, 'If', 'org.example.Relu'" in str(
        found.notes
    )


def test_functions_of_the_model_are_inlined(model: Any) -> None:
    onnx = pytest.importorskip("onnx")
    opset = [onnx.helper.make_opsetid("", 17)]
    body = [onnx.helper.make_node("ReduceSum", ["a"], ["b"], name="sum", keepdims=0)]
    own = onnx.helper.make_function("org.example", "Total", ["a"], ["b"], body, opset)
    model.functions.append(own)
    model.opset_import.append(onnx.helper.make_opsetid("org.example", 1))
    model.graph.node[1].CopyFrom(
        onnx.helper.make_node("Total", ["conv_out"], ["total"], domain="org.example")
    )
    graph = read(model).graph
    assert graph.type[graph.index["conv"] + 1] == "ReduceSum"
    assert graph.instructions[graph.index["conv"] + 1] == 4 * 6 * 6


def test_the_axis_of_a_fourier_transform_is_read_from_its_constant() -> None:
    onnx = pytest.importorskip("onnx")
    helper, float_ = onnx.helper, onnx.TensorProto.FLOAT
    for raw in (False, True):
        value = (1).to_bytes(8, "little") if raw else [1]
        axis = helper.make_tensor("axis", onnx.TensorProto.INT64, [], value, raw=raw)
        graph = helper.make_graph(
            [helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1)],
            "spectrum",
            [helper.make_tensor_value_info("x", float_, [3, 512, 4, 1])],
            [helper.make_tensor_value_info("y", float_, None)],
            [axis],
        )
        opset = [helper.make_opsetid("", 20)]
        found = read(helper.make_model(graph, opset_imports=opset, ir_version=9)).graph
        assert found.instructions[found.index["y"]] == 3 * 4 * 2.5 * 512 * 9


def test_errors(model: Any) -> None:
    assert refused(b"\xff\xff") == "not an ONNX model"
    assert "it contains no nodes" in refused(b"\x08\x08")
    whole = model.SerializeToString()
    model.graph.node[0].output[0] = "other"
    assert "layer 'total' reads an unknown tensor, 'conv_out'" in refused(model.SerializeToString())
    model.ParseFromString(whole)
    model.graph.node[1].output[0] = "conv_out"
    assert "emits the tensor of another" in refused(model.SerializeToString())
    model.ParseFromString(whole)
    model.graph.node[0].input[0] = "y"
    assert "cycle" in refused(model.SerializeToString())
    assert refused(whole.replace(b"total", b"t\xfftal")) == "a text is not UTF-8"


def test_equations_that_are_not_text(model: Any) -> None:
    onnx = pytest.importorskip("onnx")
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("equation", b"\xff"))
    assert refused(model.SerializeToString()) == "a text is not UTF-8"


def test_bytes_are_not_text() -> None:
    with pytest.raises(UsageError, match="format 'onnx' has no reader of texts"):
        read_text_as("", "file", "onnx")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UsageError) as caught:
        read_data(b"x")
    install = "pip install '.[onnx]' in a checkout of streamplace"
    assert str(caught.value) == f"--from onnx needs onnx: {install}"
