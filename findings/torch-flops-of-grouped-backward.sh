#!/bin/sh
# torch 2.13.0: FlopCounterMode counts the backward pass of a grouped convolution as if its gradient
# of the weights had no groups: 17 times the forward pass for a depthwise one of 16 channels, not 2.
#
# The gradients of the input and of the weights take the operations of the forward pass each. The
# formula for the weights multiplies all input channels by all output channels. So a mobile network
# of depthwise convolutions seems to be trained for many times what it takes.
#
# Output seen (Python 3.11, x86-64), 16 channels of 8 x 8 and filters of 3 x 3:
#   1 group: forward 294,912, backward 589,824, 2 times
#   2 groups: forward 147,456, backward 442,368, 3 times
#   4 groups: forward 73,728, backward 368,640, 5 times
#   16 groups: forward 18,432, backward 313,344, 17 times
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from torch.utils.flop_counter import FlopCounterMode

CHANNELS, SIZE, KERNEL = 16, 8, 3
for groups in (1, 2, 4, 16):
    layer = torch.nn.Conv2d(CHANNELS, CHANNELS, KERNEL, padding=1, groups=groups, bias=False)
    x = torch.zeros(1, CHANNELS, SIZE, SIZE, requires_grad=True)
    with FlopCounterMode(display=False) as forward:
        y = layer(x)
    with FlopCounterMode(display=False) as backward:
        y.sum().backward()
    there, back = forward.get_total_flops(), backward.get_total_flops()
    print(f"{groups} group{'' if groups == 1 else 's'}: forward {there:,}, backward {back:,}, "
          f"{back // there} times")
    assert there == 2 * SIZE**2 * CHANNELS**2 * KERNEL**2 // groups
    assert back == (groups + 1) * there, "this has changed"
PYTHON
