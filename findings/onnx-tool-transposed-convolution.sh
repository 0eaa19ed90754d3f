#!/bin/sh
# onnx-tool 1.0.1 counts 8 times the multiplications of a transposed convolution that upsamples.
#
# A transposed convolution multiplies each element of its input by the weights of its channel: for
# 1x32x28x28 and 64 filters of 2x2 with stride 2, 28 * 28 * 32 * 64 * 4 = 6,422,528 multiplications
# with additions; PyTorch's flop counter states twice as many operations.
# onnx-tool takes each output for a sum over all output channels and the whole window, as if the
# convolution were a plain one with the channels exchanged: 51,380,224. The factor is the square of
# the stride times output channels / input channels. Its count of the convolution from which this
# one is derived is right.
#
# Output seen:
#   conv           6422528 as counted by hand
#   transposed    51380224 instead of 6422528
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx-tool==1.0.1 onnx==1.23.2
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io

import numpy as np
import onnx_tool
from onnx import TensorProto, checker, helper, numpy_helper


def macs(kind, channels, size, results):
    """Return what onnx-tool counts for one operator with 64 x 32 filters of 2 x 2, stride 2."""
    shape = (32, 64, 2, 2)  # of Conv: outputs, inputs; of ConvTranspose: inputs, outputs
    weights = numpy_helper.from_array(np.ones(shape, np.float32), "w")
    node = helper.make_node(kind, ["x", "w"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    graph = helper.make_graph(
        [node],
        kind,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, channels, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, results)],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model, full_check=True)
    with contextlib.redirect_stdout(io.StringIO()):
        tool = onnx_tool.Model(model)
        tool.graph.shape_infer()
        tool.graph.profile()
    return int(sum(node.macs[0] for node in tool.graph.nodemap.values()))


# Every input element meets every weight of its channel: 28 x 28 positions, 32 x 64 x 2 x 2 weights.
right = 28 * 28 * 32 * 64 * 2 * 2
plain = macs("Conv", 64, 56, [1, 32, 28, 28])
transposed = macs("ConvTranspose", 32, 28, [1, 64, 56, 56])
print(f"conv        {plain:10} as counted by hand")
print(f"transposed  {transposed:10} instead of {right}")
assert plain == right
assert transposed == 8 * right
PYTHON
