#!/bin/sh
# onnx 1.23.2: onnx.utils.extract_model drops the nodes and weights that only the branches of an If
# (or the body of a Loop) read, even if the part to extract is the whole model.
#
# A body reads tensors of the outer graph by their names, which are not inputs of the If node. The
# search for the nodes of the part follows inputs only. The check that follows then fails and speaks
# of a wrong order of nodes; with check_model=False, the file is written and does not load. The
# documentation says that the boundary must not cut through a body; here it does not.
#
# Output seen (Python 3.11, x86-64), y = Abs(If(c, Relu(x) + w, Neg(x))):
#   read by inputs of nodes: Relu Neg Add Where Abs, weights w
#   extracted: Relu Neg Add Where Abs, weights w
#   read by branches: Relu Neg If Abs, weights w
#   extracted: If Abs, weights none
#   with check_model: Nodes in a graph must be topologically sorted
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx==1.23.2 numpy==2.4.0
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import sys

import onnx
import onnx.parser

START = '<ir_version: 10, opset_import: ["": 20]>'
HEAD = "whole (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 1}>"
FIRST = "a = Relu(x) b = Neg(x)"
PLAIN = f"{FIRST} s = Add(a, w) z = Where(c, s, b) y = Abs(z)"
BRANCHES = (
    f"{FIRST} z = If(c) <then_branch = t () => (float[2] s) {{ s = Add(a, w) }}, "
    "else_branch = e () => (float[2] n) { n = Identity(b) }> y = Abs(z)"
)
whole, part = f"{sys.argv[1]}/whole.onnx", f"{sys.argv[1]}/part.onnx"


def show(name, model):
    """Print and return the types of the nodes, and the names of the weights."""
    nodes = " ".join(node.op_type for node in model.graph.node)
    weights = " ".join(tensor.name for tensor in model.graph.initializer) or "none"
    print(f"{name}: {nodes}, weights {weights}")
    return nodes, weights


seen = []
for name, body in (("inputs of nodes", PLAIN), ("branches", BRANCHES)):
    model = onnx.parser.parse_model(f"{START} {HEAD} {{ {body} }}")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, whole)
    seen.append(show(f"read by {name}", model))
    onnx.utils.extract_model(whole, part, ["x", "c"], ["y"], check_model=False)
    seen.append(show("extracted", onnx.load(part)))
assert seen[0] == seen[1], "this has changed"
assert seen[2:] == [("Relu Neg If Abs", "w"), ("If Abs", "none")], "this has changed"
try:
    onnx.utils.extract_model(whole, part, ["x", "c"], ["y"])
except onnx.checker.ValidationError as error:
    print(f"with check_model: {str(error).partition(',')[0]}")
    assert "topologically sorted" in str(error), "this has changed"
else:
    raise AssertionError("this has changed")
PYTHON
