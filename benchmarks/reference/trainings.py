"""Short training runs, and readers of their files."""

import tomllib
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from streamplace import StreamGraph
from streamplace.families import Recipe
from streamplace.learning.policy.registry import policy_kind
from streamplace.learning.policy.weights import unpack_tensors
from streamplace.learning.training import TrainConfig
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch-geometric uses deprecated parts of torch
    import torch_geometric.nn  # noqa: F401 - so that it is not imported where warnings are errors

RECIPE = Recipe("layered", 6, range(4, 8), seed=1)
SMALL = """
[policy]
kind = "device-scorer"
sizes = { hidden = 8, hops = 1 }

[[problems]]
devices = ["3x2500", "1x4000,2x1500"]
networks = ["pair", "nic"]
bandwidth_mbps = [10.0, 1000.0]

[[stage]]
algorithm = "reinforce"
epochs = 2
problems_per_step = 2
samples = 3
random_samples = 1.5
random_decay = 2.0
normalise = true
entropy = 0.01

[stage.memory]
size = 2
threshold = 0.0
samples = 2

[stage.optimiser]
rate = 1e-3

[run]
held_out = 1
checkpoint_every = 2
threads = 1
"""
POLICIES: dict[str, dict[str, Any]] = {
    "device-scorer": {"hidden": 8, "hops": 1},
    "encoder-decoder": {"length": 8, "hops": 1, "device_length": 4, "devices": 3},
    "encoder-decoder-released": {"length": 8, "devices": 3},
    "placeto": {"devices": 3},
    "giph": {},
    "rebuild": {},
    "doppler": {"length": 4, "rounds": 1, "hidden": 4},
    "hsdag": {"hidden": 4, "devices": 3, "degrees": 2, "encoding": 2, "min_groups": 2, "steps": 2},
    "rnn": {"hidden": 4, "devices": 3, "operators": 16, "out_streams": 8, "labels": []},
}
OF_MAKESPANS = ("rebuild",)
STEPS: dict[str, Any] = {"algorithm": "reinforce-steps", "evaluate_every": 2, "window": 2}
"""The stage of policies that refine placements, without what it shares with the reinforce stage."""

SHARED = ("problems_per_step", "scores_per_step", "reward")
"""Keys that the reinforce stage shares with the imitation stage before it."""

Sections = dict[str, dict[str, Any]]


@cache
def graphs() -> list[StreamGraph]:
    """Return six graphs of 4 to 7 operators."""
    return [RECIPE.graph(i) for i in range(RECIPE.count)]


def of_kind(kind: str) -> Sections:
    """Return the policy section of a tiny network, and the objective if it needs makespans."""
    problems = {"problems": {"objective": "makespan"}} if kind in OF_MAKESPANS else {}
    return {"policy": {"kind": kind, "sizes": POLICIES[kind]}, **problems}


def config(sections: Sections | None = None, **more: dict[str, Any]) -> TrainConfig:
    """Return the small config with these keys of its sections changed.

    ``stage``, ``memory`` and ``optimiser`` are the table of the reinforce stage and the tables in
    it. ``teacher`` (with ``placer`` and ``epochs``) inserts an imitation stage before it, whose
    optimiser both stages use.
    """
    value: dict[str, Any] = tomllib.loads(SMALL)
    (stage,) = value["stage"]
    places = {"problems": value["problems"][0], "stage": stage}
    places |= {name: stage[name] for name in ("memory", "optimiser")}
    teacher: dict[str, Any] = {}
    for name, keys in {**(sections or {}), **more}.items():
        if name == "teacher":
            teacher = keys
        else:
            where: dict[str, Any] = places.get(name) or value.setdefault(name, {})
            where |= keys
    if policy_kind(value["policy"]["kind"]).refines:
        kept = ("epochs", "problems_per_step", "entropy", "samples", "optimiser")
        value["stage"] = [STEPS | {key: stage[key] for key in kept if key in stage}]
    elif teacher:
        shared = {name: stage[name] for name in SHARED if name in stage}
        imitation = {"algorithm": "imitation", **shared, "optimiser": stage.pop("optimiser")}
        imitation |= {"teacher": teacher["placer"], "epochs": teacher["epochs"]}
        value["stage"].insert(0, imitation)
    return TrainConfig.model_validate(value)


def config_of(*stages: dict[str, Any], **sections: dict[str, Any]) -> TrainConfig:
    """Return the small config with these stages, each the values of a ``[[stage]]`` table."""
    value = config(sections).model_dump(mode="json")
    return TrainConfig.model_validate({**value, "stage": list(stages)})


@contextmanager
def resumed(train_config: TrainConfig, folder: Path) -> Iterator[Run]:
    """Open a run on the six graphs for resuming, without taking a step."""
    with (
        Workers.of_torchrun() as workers,
        closing(Run.start(graphs(), train_config, folder, "", True, workers)) as run,
    ):
        yield run


def opened(file: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors and the text metadata of a checkpoint or of weights."""
    return unpack_tensors(file.read_bytes(), str(file))
