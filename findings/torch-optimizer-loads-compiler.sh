#!/bin/sh
# torch 2.13.0: making an optimizer, even SGD for one layer, imports the compiler (torch._dynamo) with
# SymPy, some 800 modules. A forward and a backward pass do not. The import takes about as long as
# that of torch itself, so a program that takes a single training step starts in twice the time.
#
# Optimizer.add_param_group, which every constructor calls, is decorated such that its first call
# imports torch._dynamo in order to exclude the function from compilation, whether or not anything
# is ever compiled.
#
# Output seen (Python 3.11, x86-64):
#   after importing torch, a forward and a backward pass: compiler loaded: False
#   after torch.optim.SGD(...): compiler loaded: True, sympy loaded: True, more than 500 new modules: True
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import torch

layer = torch.nn.Linear(2, 2)
layer(torch.zeros(1, 2)).sum().backward()
before = len(sys.modules)
loaded = "torch._dynamo" in sys.modules
print(f"after importing torch, a forward and a backward pass: compiler loaded: {loaded}")
assert not loaded, "this has changed"
torch.optim.SGD(layer.parameters(), lr=0.1)
loaded, symbolic = "torch._dynamo" in sys.modules, "sympy" in sys.modules
many = len(sys.modules) - before > 500
print(
    f"after torch.optim.SGD(...): compiler loaded: {loaded}, sympy loaded: {symbolic}, "
    f"more than 500 new modules: {many}"
)
assert loaded and symbolic and many, "this has changed"
PYTHON
