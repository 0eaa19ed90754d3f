"""Timelines of resources that tasks are inserted into, as list schedulers do.

A timeline is a list of blocks, which are maximal times without a gap. A task takes the first gap
that it fits into, and the search starts from the end of the timeline, because tasks are mostly
added near it. A task that takes no time fits between two tasks of a block, too.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare

NOTHING = -1  # no operator


class Timelines(NamedTuple):
    """The timelines of R resources that hold at most N tasks together."""

    first: Ints  # (R,) first block of each resource
    last: Ints  # (R,)
    begin: Floats  # (N,) seconds, of each block
    end: Floats  # (N,)
    before: Ints  # (N,) the block before, or -1
    after: Ints  # (N,)
    first_task: Ints  # (N,) first task of each block
    last_task: Ints  # (N,)
    task_end: Floats  # (N,) seconds
    task_after: Ints  # (N,) the next task of the block, or -1
    counts: Ints  # (2,) number of blocks, number of tasks


def timelines(resources: int, tasks: int) -> Timelines:
    """Return empty timelines."""
    ints = np.int32
    return Timelines(
        first=np.full(resources, NOTHING, ints),
        last=np.full(resources, NOTHING, ints),
        begin=np.empty(tasks),
        end=np.empty(tasks),
        before=np.empty(tasks, ints),
        after=np.empty(tasks, ints),
        first_task=np.empty(tasks, ints),
        last_task=np.empty(tasks, ints),
        task_end=np.empty(tasks),
        task_after=np.empty(tasks, ints),
        counts=np.zeros(2, ints),
    )


@bare
def clear(lines: Timelines) -> None:
    """Empty all timelines."""
    for r in range(lines.first.shape[0]):
        lines.first[r] = NOTHING
        lines.last[r] = NOTHING
    lines.counts[0] = 0
    lines.counts[1] = 0


@bare
def clear_used(lines: Timelines, used: Ints, count: int) -> None:
    """Empty all timelines, where only those of the resources `used[:count]` hold tasks."""
    for i in range(count):
        lines.first[used[i]] = NOTHING
        lines.last[used[i]] = NOTHING
    lines.counts[0] = 0
    lines.counts[1] = 0


@bare
def earliest(lines: Timelines, resource: int, ready: float, seconds: float) -> float:
    """Return the first moment, not before `ready`, at which a task fits."""
    return _fit_from(lines, _first_after(lines, resource, ready), ready, seconds)[1]


@bare
def earliest_in_both(
    lines: Timelines, others: Timelines, resource: int, ready: float, seconds: float
) -> float:
    """Return the first moment, not before `ready`, at which a task fits into two timelines.

    Both are the timelines of one resource, and each is searched once, from `ready` on.
    """
    block = _first_after(lines, resource, ready)
    other = _first_after(others, resource, ready)
    moment = ready
    while True:
        block, moment = _fit_from(lines, block, moment, seconds)
        other, later = _fit_from(others, other, moment, seconds)
        if later == moment:
            return moment
        moment = later


@bare
def _first_after(lines: Timelines, resource: int, ready: float) -> int:
    """Return the first block that ends after a moment, or -1."""
    block = lines.last[resource]
    if block == NOTHING or lines.end[block] <= ready:
        return NOTHING
    while lines.before[block] != NOTHING and lines.end[lines.before[block]] > ready:
        block = lines.before[block]
    return int(block)


@bare
def _fit_from(lines: Timelines, block: int, ready: float, seconds: float) -> tuple[int, float]:
    """Return the first moment at which a task fits, and a block from which to search on.

    Every block before `block` ends at `ready` or before.
    """
    while block != NOTHING and lines.end[block] <= ready:
        block = lines.after[block]
    if block == NOTHING or ready + seconds <= lines.begin[block]:
        return block, ready
    if seconds == 0.0:
        task = lines.first_task[block]
        while lines.task_end[task] < ready:
            task = lines.task_after[task]
        return block, float(max(ready, lines.task_end[task]))
    while True:
        moment = lines.end[block]
        block = lines.after[block]
        if block == NOTHING or moment + seconds <= lines.begin[block]:
            return block, float(moment)


@bare
def insert(lines: Timelines, resource: int, start: float, seconds: float) -> None:
    """Add a task at a moment at which it fits."""
    end = start + seconds
    task = lines.counts[1]
    lines.counts[1] = task + 1
    lines.task_end[task] = end
    lines.task_after[task] = NOTHING
    later = NOTHING
    block = lines.last[resource]
    while block != NOTHING and lines.begin[block] > start:
        later = block
        block = lines.before[block]
    # `block` is the last one that begins at `start` or before, and `later` the next one
    if block != NOTHING and lines.end[block] >= start:
        _insert_task(lines, block, task, end)
        if end > lines.end[block]:
            lines.end[block] = end
        if later != NOTHING and lines.begin[later] <= lines.end[block]:
            _join(lines, resource, block, later)
    elif later != NOTHING and lines.begin[later] <= end:
        lines.begin[later] = start
        lines.task_after[task] = lines.first_task[later]
        lines.first_task[later] = task
    else:
        _insert_block(lines, resource, block, later, task, start, end)


@bare
def _insert_task(lines: Timelines, block: int, task: int, end: float) -> None:
    """Add a task to the chain of a block, by its end."""
    if lines.task_end[lines.last_task[block]] <= end:
        lines.task_after[lines.last_task[block]] = task
        lines.last_task[block] = task
        return
    other = lines.first_task[block]
    if lines.task_end[other] > end:
        lines.task_after[task] = other
        lines.first_task[block] = task
        return
    while lines.task_end[lines.task_after[other]] <= end:
        other = lines.task_after[other]
    lines.task_after[task] = lines.task_after[other]
    lines.task_after[other] = task


@bare
def _join(lines: Timelines, resource: int, block: int, later: int) -> None:
    """Join two adjacent blocks into the first."""
    lines.end[block] = max(lines.end[block], lines.end[later])
    lines.task_after[lines.last_task[block]] = lines.first_task[later]
    lines.last_task[block] = lines.last_task[later]
    beyond = lines.after[later]
    lines.after[block] = beyond
    if beyond == NOTHING:
        lines.last[resource] = block
    else:
        lines.before[beyond] = block


@bare
def _insert_block(
    lines: Timelines, resource: int, before: int, after: int, task: int, start: float, end: float
) -> None:
    block = lines.counts[0]
    lines.counts[0] = block + 1
    lines.begin[block], lines.end[block] = start, end
    lines.before[block], lines.after[block] = before, after
    lines.first_task[block] = task
    lines.last_task[block] = task
    if before == NOTHING:
        lines.first[resource] = block
    else:
        lines.after[before] = block
    if after == NOTHING:
        lines.last[resource] = block
    else:
        lines.before[after] = block
