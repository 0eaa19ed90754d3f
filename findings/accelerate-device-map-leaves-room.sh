#!/bin/sh
# accelerate 1.15.0: infer_auto_device_map puts a layer on disk though the devices have room for all.
#
# Four layers of 400 bytes need two devices of 800. The documentation says that the first device keeps
# room for the largest layer if something has to be offloaded. The function keeps it whenever the
# model does not fit on the first device, and so offloads what had room: the first device stays half
# empty.
#
# Output seen (Python 3.11, x86-64), 4 layers of 400 bytes:
#   1 device of 1600: 4 layers on 0
#   2 devices of 800: 1 layer on 0, 2 layers on 1, 1 layer on disk
#   2 devices of 1200: 2 layers on 0, 2 layers on 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q accelerate==1.15.0 torch==2.13.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import logging
from collections import Counter

from accelerate import infer_auto_device_map
from torch import nn

logging.disable(logging.WARNING)  # that no such GPU is here does not matter for a plan
LAYERS = 4
network = nn.Sequential(*(nn.Linear(10, 10, bias=False) for _ in range(LAYERS)))
for devices, bytes_each, expected in (
    (1, 1600, {0: 4}),
    (2, 800, {0: 1, 1: 2, "disk": 1}),
    (2, 1200, {0: 2, 1: 2}),
):
    room = {device: bytes_each for device in range(devices)}
    places = infer_auto_device_map(network, max_memory=room)
    found = {places[""]: LAYERS} if "" in places else Counter(places.values())
    text = ", ".join(
        f"{count} layer{'' if count == 1 else 's'} on {place}" for place, count in found.items()
    )
    print(f"{devices} device{'' if devices == 1 else 's'} of {bytes_each}: {text}")
    assert found == expected, "this has changed"
PYTHON
