#!/bin/sh
# torch 2.13.0: FlopCounterMode counts no operation at all for nn.TransformerEncoderLayer and
# nn.MultiheadAttention in evaluation mode without gradients, and for nn.LSTM on a CPU.
#
# In evaluation mode both attention layers call a fused operator, and the LSTM calls oneDNN's in any
# mode. The counter has a formula for each operator, but none for these. What has no formula counts
# as 0, without a warning. In training mode the attention layers count their products with weights.
#
# Output seen (Python 3.11, x86-64):
#   TransformerEncoderLayer: train 32,768, eval 0 operations
#   MultiheadAttention: train 16,384, eval 0 operations
#   LSTM: train 0, eval 0 operations
#   GRU: train 24,576, eval 24,576 operations
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

x = torch.zeros(1, 8, 16)
LAYERS = {
    "TransformerEncoderLayer": (
        nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True),
        lambda layer: layer(x),
        False,
    ),
    "MultiheadAttention": (
        nn.MultiheadAttention(16, 2, batch_first=True),
        lambda layer: layer(x, x, x, need_weights=False),
        False,
    ),
    "LSTM": (nn.LSTM(16, 16, batch_first=True), lambda layer: layer(x), None),
    "GRU": (nn.GRU(16, 16, batch_first=True), lambda layer: layer(x), True),
}
for name, (layer, run, in_evaluation) in LAYERS.items():
    counts = []
    for training in (True, False):
        layer.train(training)
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            run(layer)
        counts.append(counter.get_total_flops())
    print(f"{name}: train {counts[0]:,}, eval {counts[1]:,} operations")
    assert bool(counts[0]) == (in_evaluation is not None), "this has changed"
    assert bool(counts[1]) == bool(in_evaluation), "this has changed"
PYTHON
