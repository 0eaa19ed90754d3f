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
import warnings

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

warnings.simplefilter("error")  # none of this warns
BATCH, STEPS, WIDTH, HIDDEN = 1, 8, 16, 32
PRODUCT = 2 * BATCH * STEPS * WIDTH  # operations for each column of a matrix of weights
x = torch.zeros(BATCH, STEPS, WIDTH)


class Called(TorchDispatchMode):
    """The operators that are called, and those of them that have a formula."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.counted: set[str] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        packet = function.overloadpacket
        self.names.add(packet.__name__)
        if packet in flop_registry:
            self.counted.add(packet.__name__)
        return function(*args, **(kwargs or {}))


LAYERS = {  # how they run, operations in training and in evaluation, and what fuses them
    "TransformerEncoderLayer": (
        nn.TransformerEncoderLayer(WIDTH, 2, HIDDEN, dropout=0.0, batch_first=True),
        lambda layer: layer(x),
        (PRODUCT * (4 * WIDTH + 2 * HIDDEN), 0),
        "_transformer_encoder_layer_fwd",
    ),
    "MultiheadAttention": (
        nn.MultiheadAttention(WIDTH, 2, batch_first=True),
        lambda layer: layer(x, x, x, need_weights=False),
        (PRODUCT * 4 * WIDTH, 0),
        "_native_multi_head_attention",
    ),
    "LSTM": (
        nn.LSTM(WIDTH, WIDTH, batch_first=True), lambda layer: layer(x), (0, 0), "mkldnn_rnn_layer"
    ),
    "GRU": (
        nn.GRU(WIDTH, WIDTH, batch_first=True),
        lambda layer: layer(x),
        (PRODUCT * 6 * WIDTH, PRODUCT * 6 * WIDTH),
        "",
    ),
}
for name, (layer, run, expected, fused) in LAYERS.items():
    counts = []
    for training in (True, False):
        layer.train(training)
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            run(layer)
        with torch.no_grad(), Called() as called:
            run(layer)
        counts.append(counter.get_total_flops())
        is_fused = fused in called.names
        assert is_fused == (counts[-1] == 0) == (not called.counted), "this has changed"
    print(f"{name}: train {counts[0]:,}, eval {counts[1]:,} operations")
    assert tuple(counts) == expected, "this has changed"
PYTHON
