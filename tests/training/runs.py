"""Training runs that take a moment, ways to stop them, and what they leave behind."""

import json
import signal
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from streamplace import StreamGraph
from streamplace.generate import Recipe
from streamplace.policy.weights import unpacked
from streamplace.training import TrainConfig
from streamplace.training.learner import Record
from streamplace.training.trainer import CHECKPOINT, CONFIG, POLICY, Run
from streamplace.training.workers import Workers

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
STEPS_AN_EPOCH = 3  # 6 graphs without the one held out, 2 a step
LIMIT_S = 20

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


def ctrl_c_at(*steps: int) -> Callable[[Record], None]:
    """Return what to tell of steps so that Ctrl-C comes after each of these."""

    def tell(record: Record) -> None:
        if record["step"] in steps:
            signal.raise_signal(signal.SIGINT)

    return tell


@contextmanager
def resumed(wanted: TrainConfig, folder: Path) -> Iterator[Run]:
    """Take up a run on the six graphs without going on."""
    with (
        Workers() as workers,
        closing(Run.start(graphs(), wanted, folder, "", True, workers)) as run,
    ):
        yield run


@contextmanager
def ends() -> Iterator[None]:
    """Turn a block that never ends into a failure."""

    def fail(number: int, frame: object) -> None:
        raise AssertionError(f"has not ended after {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def log_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's log; NaN and Infinity are no JSON."""
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def opened(file: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors and words of a checkpoint or of weights."""
    return unpacked(file.read_bytes(), str(file))


def check_finite(folder: Path) -> None:
    """Check that no file of a run has a number that is none.

    The best reward of a problem that was never looked at is -inf.
    """
    json.loads((folder / CONFIG).read_text(), parse_constant=pytest.fail)
    log_of(folder)
    for file in (CHECKPOINT, POLICY):
        if (folder / file).exists():
            tensors, words = opened(folder / file)
            for name, tensor in tensors.items():
                ok = torch.isfinite(tensor)
                assert bool((ok | (tensor == -np.inf)).all() if name == "memory.best" else ok.all())
            for word in words.values():
                assert "NaN" not in word
                assert "Infinity" not in word


def check_same(one: Path, other: Path) -> None:
    """Check that two runs did the same to the last bit: weights, optimiser, memory and log."""
    assert (one / "log.jsonl").read_text() == (other / "log.jsonl").read_text()
    assert (one / CONFIG).read_text() == (other / CONFIG).read_text()
    for file in (CHECKPOINT, POLICY):
        (tensors, words), (expected, expected_words) = opened(one / file), opened(other / file)
        assert tensors.keys() == expected.keys()
        for name, tensor in tensors.items():
            assert tensor.dtype == expected[name].dtype
            assert torch.equal(tensor, expected[name]), name
        assert _without_seconds(words) == _without_seconds(expected_words)


def _without_seconds(words: dict[str, str]) -> dict[str, Any]:
    values = {k: json.loads(v) if v.startswith("{") else v for k, v in words.items()}
    for value in values.values():
        if isinstance(value, dict):
            value.pop("seconds", None)
            value.pop("dataset", None)
    return values
