"""Epochs of stages, the stages that a schedule spans, and steps without denormal numbers."""

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace.learning.training import fit
from streamplace.learning.training.algorithms.base import Algorithm, Record, Step
from streamplace.learning.training.loop import first_epochs, no_denormals, schedule_span, stage_at
from streamplace.learning.training.stages import Stage
from tests.support.stages import (
    dagger,
    imitation,
    reinforce,
    small_policy,
    small_problems,
    stages_of,
)


@st.composite
def schedules(draw: st.DrawFn) -> list[Stage]:
    """Draw stages of 0 to 3 epochs, some with their own optimiser; the last has one epoch."""
    drawn = draw(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=5))
    values = [
        imitation(epochs=epochs, **({"optimiser": {}} if own else {})) for epochs, own in drawn
    ]
    return [*stages_of(*values), *stages_of(dagger())]


@given(schedules())
def test_every_epoch_belongs_to_its_stage(stages: list[Stage]) -> None:
    owners = [number for number, stage in enumerate(stages) for _ in range(stage.epochs)]
    assert [stage_at(stages, epoch) for epoch in range(len(owners))] == owners
    assert stage_at(stages, len(owners)) == len(stages) - 1
    assert stage_at(stages, len(owners) + 7) == len(stages) - 1


@given(schedules())
def test_first_epochs_add_up(stages: list[Stage]) -> None:
    expected = [0, *accumulate(stage.epochs for stage in stages)]
    assert first_epochs(stages) == expected


@given(schedules())
def test_schedules_span_the_stages_that_share_an_optimiser(stages: list[Stage]) -> None:
    """A schedule begins with the first stage and with each stage that has its own optimiser."""
    groups: list[list[int]] = []
    for number, stage in enumerate(stages):
        if not groups or stage.optimiser is not None:
            groups.append([])
        groups[-1].append(number)
    end = 0
    for group in groups:
        begin, end = end, end + sum(stages[number].epochs for number in group)
        assert {schedule_span(stages, number) for number in group} == {(begin, end)}


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
