"""Interrupted training runs, and checks of the files that they leave."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.reference.trainings import opened
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY
from streamplace.learning.training.algorithms.base import Record

STEPS_PER_EPOCH = 3  # 5 graphs that are not held out, 2 per step
BEST = ("memory.best", "memory.start.best")
"""Tensors of the best reward of each problem."""


def ctrl_c_at(*steps: int) -> Callable[[Record], None]:
    """Return a callback that interrupts the run after each of these steps."""

    def on_step(record: Record) -> None:
        if record["step"] in steps:
            signal.raise_signal(signal.SIGINT)

    return on_step


def log_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's log; NaN and Infinity are not JSON."""
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def check_finite(folder: Path) -> None:
    """Check that all numbers in the files of a run are finite.

    The only exception is -inf as the best reward of a problem that was never visited (`BEST`).
    """
    json.loads((folder / CONFIG).read_text(), parse_constant=pytest.fail)
    log_of(folder)
    for file in (CHECKPOINT, POLICY):
        if (folder / file).exists():
            tensors, words = opened(folder / file)
            for name, tensor in tensors.items():
                ok = torch.isfinite(tensor)
                assert bool((ok | (tensor == -np.inf)).all() if name in BEST else ok.all())
            for word in words.values():
                assert "NaN" not in word
                assert "Infinity" not in word


def check_same(one: Path, other: Path) -> None:
    """Check that two runs are equal to the last bit: weights, optimiser, memory and log."""
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
