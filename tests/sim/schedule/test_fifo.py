"""Passes that resume a kept one after a change, compared with passes from the beginning."""

from collections.abc import Iterable

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.schedule.fifo import (
    FifoMemory,
    begin_change,
    change,
    fifo_makespan,
    fifo_memory,
    keep,
    serves,
)
from sim.schedule.task_graph import Columns
from tests.support.schedule_tasks import task_problem
from tests.support.share import Share

CHANGES = 60  # tried per problem


@kernel
def first_difference(
    tasks: Columns,
    devices: Ints,
    moved: Ints,
    target: Ints,
    factors: Floats,
    resumed: FifoMemory,
    fresh: FifoMemory,
) -> tuple[int, int]:
    """Return the first change for which a resumed pass differs, or -1, and how many were kept.

    Parameters
    ----------
    moved, target
        (K, B) operators that each change moves, and the device that they move to, (K,).
    factors
        (K,) limit of each pass, in shares of the makespan.
    """
    fifo_makespan(tasks, devices, resumed, np.inf, 0)
    keep(tasks, resumed, 0)
    kept = 0
    for k in range(moved.shape[0]):
        tried, changed = devices.copy(), devices.shape[0]
        begin_change(resumed)
        for v in moved[k]:
            if tried[v] != target[k]:
                tried[v] = target[k]
                changed = min(changed, change(tasks, resumed, v, devices[v], target[k]))
        if changed == devices.shape[0]:
            continue
        seconds = fifo_makespan(tasks, tried, fresh, np.inf, None)
        limit = seconds * factors[k]
        found = fifo_makespan(tasks, tried, resumed, limit, changed)
        if found != (seconds if seconds <= limit else np.inf):
            return k, kept
        if seconds <= limit:
            keep(tasks, resumed, changed)
            kept += 1
            devices = tried
            if resumed.last[0] != fresh.last[0]:
                return k, kept
            for v in range(devices.shape[0]):
                if resumed.kept.cause[v] != fresh.now.cause[v]:
                    return k, kept
    return -1, kept


def check_resumed_passes(seeds: Iterable[int], *, large: bool) -> None:
    """Check the makespan, the operator that ends last, and what each operator waited for."""
    problems = kept = 0
    for seed in seeds:
        tasks = task_problem(schedule_problem(seed, large=large)).tasks
        if not serves(tasks.columns):
            continue
        rng = np.random.default_rng(seed)
        size = (CHANGES, int(rng.integers(1, 5)))
        moved = rng.integers(0, tasks.operators, size, dtype=np.int32)
        target = rng.integers(0, tasks.devices, CHANGES, dtype=np.int32)
        factors = np.where(rng.random(CHANGES) < 0.5, 1.0, rng.uniform(0.7, 1.3, CHANGES))
        devices = rng.integers(0, tasks.devices, tasks.operators, dtype=np.int32)
        columns = tasks.columns
        memories = fifo_memory(columns), fifo_memory(columns)
        different, count = first_difference(columns, devices, moved, target, factors, *memories)
        assert different == -1, (seed, large)
        problems, kept = problems + 1, kept + count
    assert kept > 10 * problems > 0


def test_resumed_passes_equal_passes_from_the_beginning() -> None:
    check_resumed_passes(range(150), large=False)
    check_resumed_passes(range(100), large=True)


@pytest.mark.long
def test_resumed_passes_of_many_problems(share: Share) -> None:
    check_resumed_passes(share.of(range(150, 2000)), large=False)
    check_resumed_passes(share.of(range(100, 2000)), large=True)
