#!/bin/sh
# ptflops 0.7.5 and thop 0.1.1: counting the operations of a model changes the mode of its layers.
# ptflops leaves a model that is trained in evaluation mode. thop sets every layer to the mode of the
# whole model, so that a batch normalisation frozen by eval() is trained again.
#
# Both switch the model to evaluation for their run. ptflops does not switch back. thop calls
# model.train(mode), which acts on all layers below. A count at the start of a training script thus
# turns dropout off, or lets frozen statistics drift, and nothing is reported.
#
# Output seen (Python 3.11, x86-64), whether a layer is in training mode:
#   before: model True, dropout True, frozen normalisation False
#   after ptflops, backend pytorch: model False, dropout False, frozen normalisation False
#   after ptflops, backend aten: model False, dropout False, frozen normalisation False
#   after thop: model True, dropout True, frozen normalisation True
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.0 \
    ptflops==0.7.5 thop==0.1.1.post2209072238
"$folder/venv/bin/python" - <<'PYTHON'
import ptflops
import thop
import torch


def model():
    """Return a network in training mode whose normalisation is frozen."""
    made = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, 2)
    )
    made.train()
    made[1].eval()
    return made


def with_ptflops(counted, backend):
    """Count with ptflops."""
    ptflops.get_model_complexity_info(
        counted, (4,), backend=backend, as_strings=False, print_per_layer_stat=False
    )


counters = {
    "before": lambda counted: None,
    "after ptflops, backend pytorch": lambda counted: with_ptflops(counted, "pytorch"),
    "after ptflops, backend aten": lambda counted: with_ptflops(counted, "aten"),
    "after thop": lambda counted: thop.profile(counted, (torch.zeros(3, 4),), verbose=False),
}
expected = [(True, True, False), (False,) * 3, (False,) * 3, (True,) * 3]
for (name, count), modes in zip(counters.items(), expected):
    counted = model()
    count(counted)
    seen = (counted.training, counted[2].training, counted[1].training)
    print(f"{name}: model {seen[0]}, dropout {seen[1]}, frozen normalisation {seen[2]}")
    assert seen == modes, "this has changed"
PYTHON
