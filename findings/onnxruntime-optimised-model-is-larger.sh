#!/bin/sh
# ONNX Runtime 1.31.1: the optimised model that it writes has more nodes than the model that it read,
# and onnx infers the shape of none of the new ones.
#
# On x86-64, convolutions become operators of the domain com.microsoft.nchwc, for channels stored in
# blocks, with a node that reorders the image before and one after. Activations are joined with
# convolutions, so that the count can rise or fall. Who reads the file to count or place operators
# meets types that ONNX does not define, and one convolution of 10 channels has weights for 16.
#
# Output seen (Python 3.11, x86-64):
#   Conv: 1 node, optimised 3: ReorderInput Conv ReorderOutput; shapes known: 0 of 2 between them
#   Conv Relu Conv: 3 nodes, optimised 4: ReorderInput Conv Conv ReorderOutput; shapes known: 0 of 3 between them
#   weights of a convolution with 10 filters: 16 filters
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "skipped: needs x86-64" >&2; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.31.1 onnx==1.23.2 numpy==2.4.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def optimised(kinds: list[str], filters: int = 32) -> onnx.ModelProto:
    """Return what the optimiser makes of a chain of nodes on an image of 32 channels."""
    nodes, weights = [], []
    for i, kind in enumerate(kinds):
        inputs = [f"t{i}"]
        if kind == "Conv":
            shape = (filters if i == len(kinds) - 1 else 32, 32, 3, 3)
            weights.append(numpy_helper.from_array(np.ones(shape, np.float32), f"w{i}"))
            inputs.append(f"w{i}")
        settings = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]} if kind == "Conv" else {}
        nodes.append(helper.make_node(kind, inputs, [f"t{i + 1}"], **settings))
    ends = [("t0", 32), (f"t{len(kinds)}", filters)]
    first, last = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, 16, 16])
        for name, channels in ends
    )
    graph = helper.make_graph(nodes, "chain", [first], [last], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    settings = onnxruntime.SessionOptions()
    settings.optimized_model_filepath = "optimised.onnx"
    settings.log_severity_level = 3  # it warns that the result is for this kind of processor
    settings.intra_op_num_threads = 1
    onnxruntime.InferenceSession("model.onnx", settings, providers=["CPUExecutionProvider"])
    return onnx.load("optimised.onnx")


for kinds in (["Conv"], ["Conv", "Relu", "Conv"]):
    graph = onnx.shape_inference.infer_shapes(optimised(kinds)).graph
    between = len(graph.node) - 1
    count = f"{len(kinds)} node" + ("" if len(kinds) == 1 else "s")
    print(f"{' '.join(kinds)}: {count}, optimised {len(graph.node)}: "
          f"{' '.join(node.op_type for node in graph.node)}; "
          f"shapes known: {len(graph.value_info)} of {between} between them")
    assert len(graph.node) > len(kinds) and not graph.value_info, "this has changed"
    assert {node.domain for node in graph.node} == {"com.microsoft.nchwc"}, "this has changed"
(weights,) = optimised(["Conv"], filters=10).graph.initializer
print(f"weights of a convolution with 10 filters: {weights.dims[0]} filters")
assert weights.dims[0] == 16, "this has changed"
PYTHON
