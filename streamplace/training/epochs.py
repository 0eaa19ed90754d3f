"""Epochs of the stages of a run, and of their learning-rate schedules."""

from collections.abc import Sequence

from streamplace.training.stages import Stage


def stage_at(stages: Sequence[Stage], epoch: int) -> int:
    """Return the number of the stage to which an epoch of the run belongs."""
    end = 0
    for number, stage in enumerate(stages):
        end += stage.epochs
        if epoch < end:
            return number
    return len(stages) - 1


def first_epochs(stages: Sequence[Stage]) -> list[int]:
    """Return the first epoch of each stage, and the total number of epochs."""
    firsts = [0]
    for stage in stages:
        firsts.append(firsts[-1] + stage.epochs)
    return firsts


def schedule_span(stages: Sequence[Stage], number: int) -> tuple[int, int]:
    """Return the first epoch, and one past the last, of the schedule that covers a stage."""
    firsts = first_epochs(stages)
    first = number
    while first > 0 and stages[first].optimiser is None:
        first -= 1
    last = number + 1
    while last < len(stages) and stages[last].optimiser is None:
        last += 1
    return firsts[first], firsts[last]
