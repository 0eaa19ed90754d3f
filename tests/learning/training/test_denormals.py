"""Steps of training without denormal numbers."""

from typing import Any

import numpy as np
import pytest
import torch

from streamplace.learning.training import fit
from streamplace.learning.training.algorithms.base import Algorithm, Record, Step
from streamplace.learning.training.loop import no_denormals
from tests.support.stages import reinforce, small_policy, small_problems, stages_of


def tiny() -> float:
    """Return a product of 32 bits that is a denormal number, or 0 where these are flushed."""
    return float(torch.tensor(1e-30) * 1e-10)


def test_they_are_rounded_to_zero_within_the_block() -> None:
    with no_denormals():
        assert tiny() == 0.0
    assert tiny() > 0.0


def test_steps_compute_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found, former = list[float](), Algorithm.step

    def step(self: Algorithm[Any], what: Step) -> Record:
        found.append(tiny())
        return former(self, what)

    monkeypatch.setattr(Algorithm, "step", step)
    fit(small_policy(), small_problems(), stages_of(reinforce()), np.random.default_rng(0))
    assert found == [0.0] * len(found) != []
    assert tiny() > 0.0
