#!/bin/sh
# torchinfo 1.8.0: the multiplications of nn.Linear are counted once for each sequence of a batch,
# not once for each element of the sequence, and those of nn.MultiheadAttention not at all.
#
# For 1 x 128 x 16 inputs and 16 x 16 weights there are 128 * 16 * 16 = 32,768; torchinfo states 256,
# the number of weights. It multiplies the weights of a layer by the first size of its output, and
# by more only for convolutions and recurrent layers. A transformer on sequences of 128 tokens thus
# seems to take less than a hundredth of its work, and a convolution that does the same is right.
#
# Output seen (Python 3.11, x86-64), 128 elements of 16 channels:
#   Linear: 256 of 32,768 multiplications
#   Conv1d with a window of 1: 32,768 of 32,768 multiplications
#   MultiheadAttention: 0 of 655,360 multiplications
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torchinfo==1.8.0 torch==2.13.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
import torchinfo
from torch import nn

LENGTH, SIZE = 128, 16


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(SIZE, 2, bias=False, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


product = LENGTH * SIZE * SIZE
sequence = torch.zeros(1, LENGTH, SIZE)
for name, module, x, right, expected in (
    ("Linear", nn.Linear(SIZE, SIZE, bias=False), sequence, product, SIZE * SIZE),
    (
        "Conv1d with a window of 1",
        nn.Conv1d(SIZE, SIZE, 1, bias=False),
        sequence.transpose(1, 2),
        product,
        product,
    ),
    # four projections, and the products of queries with keys and of scores with values
    ("MultiheadAttention", Attention(), sequence, 4 * product + 2 * LENGTH**2 * SIZE, 0),
):
    found = torchinfo.summary(module, input_data=x, verbose=0).total_mult_adds
    print(f"{name}: {found:,} of {right:,} multiplications")
    assert found == expected, "this has changed"
PYTHON
