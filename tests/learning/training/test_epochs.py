"""Epochs of stages, and the stages that a learning-rate schedule spans."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from streamplace.learning.training.loop import first_epochs, schedule_span, stage_at
from streamplace.learning.training.stages import Stage
from tests.support.stages import dagger, imitation, stages_of


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
