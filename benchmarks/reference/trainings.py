"""Training runs that take a moment, and what they leave behind."""

import tomllib
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from streamplace import StreamGraph
from streamplace.generate import Recipe
from streamplace.policy.weights import unpacked
from streamplace.training import TrainConfig
from streamplace.training.distributed import Workers
from streamplace.training.trainer import Run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch-geometric uses what torch is about to drop
    import torch_geometric.nn  # noqa: F401 - not to be loaded where warnings are errors

RECIPE = Recipe("layered", 6, range(4, 8), seed=1)
SMALL = """
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
POLICIES: dict[str, dict[str, Any]] = {
    "device-scorer": {"hidden": 8, "hops": 1},
    "encoder-decoder": {"length": 8, "hops": 1, "device_length": 4, "devices": 3},
}

Sections = dict[str, dict[str, Any]]


@cache
def graphs() -> list[StreamGraph]:
    """Return six graphs of 4 to 7 operators."""
    return [RECIPE.graph(i) for i in range(RECIPE.count)]


def of_kind(kind: str) -> Sections:
    """Return the policy section of a tiny network."""
    return {"policy": {"kind": kind, "sizes": POLICIES[kind]}}


def config(sections: Sections | None = None, **more: dict[str, Any]) -> TrainConfig:
    """Return the small config with these keys of its sections changed."""
    value: dict[str, Any] = tomllib.loads(SMALL)
    for name, keys in {**(sections or {}), **more}.items():
        where = value["problems"][0] if name == "problems" else value.setdefault(name, {})
        where |= keys
    return TrainConfig.model_validate(value)


@contextmanager
def resumed(wanted: TrainConfig, folder: Path) -> Iterator[Run]:
    """Take up a run on the six graphs without going on."""
    with (
        Workers() as workers,
        closing(Run.start(graphs(), wanted, folder, "", True, workers)) as run,
    ):
        yield run


def opened(file: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors and words of a checkpoint or of weights."""
    return unpacked(file.read_bytes(), str(file))
