"""Timelines that tasks are inserted into, against a search of lists of intervals."""

import numpy as np
import pytest

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.timelines import (
    Timelines,
    clear_used,
    earliest,
    earliest_in_both,
    insert,
    timelines,
)

TASKS, RESOURCES, RESOURCE = 60, 3, 1
Interval = tuple[float, float]


@kernel
def inserted(
    lines: Timelines, others: Timelines, ready: Floats, seconds: Floats, into: Ints, used: Ints
) -> Floats:
    """Insert each task into one of two timelines of a resource; return the starts.

    A task of the first one is inserted where that is free, and one of the second where both are.
    Before a task of neither, the second is emptied.
    """
    starts = np.empty(len(ready))
    for i in range(len(ready)):
        if into[i] == 0:
            starts[i] = earliest(lines, RESOURCE, ready[i], seconds[i])
            insert(lines, RESOURCE, starts[i], seconds[i])
            continue
        if into[i] != 1:
            clear_used(others, used, len(used))
        starts[i] = earliest_in_both(lines, others, RESOURCE, ready[i], seconds[i])
        if into[i] == 1:
            insert(others, RESOURCE, starts[i], seconds[i])
    return starts


def expected(ready: Floats, seconds: Floats, into: Ints) -> list[float]:
    """Return the starts by a search of all ends of earlier tasks."""
    lines: list[Interval] = []
    others: list[Interval] = []
    starts = []
    for moment, length, where in zip(ready, seconds, into, strict=True):
        others = [] if where > 1 else others
        starts.append(first_fit(lines if where == 0 else lines + others, moment, length))
        if where < 2:
            (lines, others)[where].append((starts[-1], starts[-1] + length))
    return starts


def first_fit(busy: list[Interval], ready: float, length: float) -> float:
    """Return the first moment, not before `ready`, at which a task overlaps no interval."""
    moments = sorted({ready, *(end for _, end in busy if end > ready)})
    return next(m for m in moments if not any(m < e and b < m + length for b, e in busy))


@pytest.mark.parametrize("longest", [2, 5])
def test_tasks_take_the_first_gaps(longest: int) -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        ready = rng.integers(0, 60, TASKS).astype(float)
        seconds = rng.integers(0, longest + 1, TASKS).astype(float)
        into = rng.choice([0, 1, 2], TASKS, p=[0.45, 0.45, 0.1])
        lines, others = timelines(RESOURCES, TASKS), timelines(RESOURCES, TASKS)
        used = np.array([RESOURCE, RESOURCE], np.int32)
        starts = inserted(lines, others, ready, seconds, into, used)
        assert starts.tolist() == expected(ready, seconds, into)
