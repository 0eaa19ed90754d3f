"""A small ONNX model, made by the package onnx."""

from importlib.util import find_spec

from tests.corpus.document import Document

INSTALLED = find_spec("onnx") is not None


def onnx_models() -> tuple[Document, ...]:
    """Return a model with a convolution, a product with a bias, and a body; needs onnx."""
    from onnx import TensorProto, helper  # noqa: PLC0415 - an extra

    def weights(name: str, *shape: int) -> TensorProto:
        """Return weights in another file, as exporters store those of large models."""
        tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
        return tensor

    body = helper.make_graph(
        [helper.make_node("Relu", ["conv_out"], ["positive"])],
        "then",
        [],
        [helper.make_tensor_value_info("positive", TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["conv_out"], ["same"])],
        "else",
        [],
        [helper.make_tensor_value_info("same", TensorProto.FLOAT, None)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["conv_out"], name="conv", kernel_shape=[3, 3]),
            helper.make_node("ReduceSum", ["conv_out"], ["total"], keepdims=0),
            helper.make_node("Constant", [], ["limit"], value_float=1.0),
            helper.make_node("Greater", ["total", "limit"], ["is_large"], name="compare"),
            helper.make_node(
                "If", ["is_large"], ["kept"], name="if", then_branch=body, else_branch=other
            ),
            helper.make_node("Flatten", ["kept"], ["flat"], name="flatten"),
            helper.make_node("Gemm", ["flat", "v", "b"], ["y"], name="gemm", transB=1),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weights("w", 4, 3, 3, 3), weights("v", 5, 144), weights("b", 5)],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return (Document("file.onnx", model.SerializeToString(deterministic=True)),)
