"""Configs and checkpoints in the form of streamplace 0.2, converted from current ones."""

import copy
import json
from pathlib import Path
from typing import Any

from benchmarks.reference.trainings import opened
from streamplace.learning.policy.weights import pack_tensors

OLD = """
[policy]
kind = "device-scorer"
sizes = { hidden = 8, hops = 1 }

[[problems]]
devices = ["3x2500", "1x4000,2x1500"]
networks = ["pair", "nic"]
bandwidth_mbps = [10.0, 1000.0]

[sampling]
epochs = 2
problems_per_step = 2
samples = 3
random_samples = 1.5
random_decay = 2.0

[memory]
size = 2
threshold = 0.0
samples = 2

[optimiser]
entropy = 0.01
normalise = true

[run]
held_out = 1
checkpoint_every = 2
threads = 1
"""
"""`benchmarks.reference.trainings.SMALL` in the form of 0.2."""

TAUGHT = '\n[teacher]\nplacer = "greedy"\nepochs = 1\n'

DUMPED: dict[str, Any] = {
    "policy": {"kind": "device-scorer", "sizes": {"hidden": 8, "hops": 1, "orders": [0]}},
    "problems": [
        {
            "operators": [1, 1000000],
            "share": 1.0,
            "devices": ["3x2500", "1x4000,2x1500"],
            "networks": ["pair", "nic"],
            "bandwidth_mbps": [10.0, 1000.0],
            "source_rates": [],
            "model": "bottleneck",
        }
    ],
    "sampling": {
        "epochs": 2,
        "problems_per_step": 2,
        "scores_per_step": 0,
        "samples": 3,
        "random_samples": 1.5,
        "random_decay": 2.0,
        "random_if_empty": 0,
        "reward": "relative",
    },
    "memory": {"size": 2, "threshold": 0.0, "samples": 2, "only_better": False, "imitate": 0.0},
    "teacher": {"placer": "", "epochs": 0},
    "optimiser": {
        "rate": 0.001,
        "final_rate": None,
        "warm_up": 0,
        "largest_gradient": 0.0,
        "normalise": True,
        "entropy": 0.01,
        "per_decision": False,
    },
    "run": {"seed": 0, "checkpoint_every": 2, "held_out": 1, "half": False, "threads": 1},
}
"""The ``config.json`` that 0.2 wrote for a run with `OLD`, with every setting."""


def dumped(taught: bool) -> dict[str, Any]:
    """Return the ``config.json`` of a run, with or without a teacher."""
    value = copy.deepcopy(DUMPED)
    if taught:
        value["teacher"] = {"placer": "greedy", "epochs": 1}
    return value


def make_old(checkpoint: Path, taught: bool) -> None:
    """Rewrite the metadata of a checkpoint in the form of 0.2; the tensors keep their names."""
    tensors, words = opened(checkpoint)
    run, position = json.loads(words["run"]), json.loads(words["position"])
    config = dumped(taught)
    config["run"] = {name: config["run"][name] for name in ("seed", "held_out")}
    del position["schedule_step"]
    words |= {"run": json.dumps({**run, "config": config}), "position": json.dumps(position)}
    checkpoint.write_bytes(pack_tensors(tensors, words))
