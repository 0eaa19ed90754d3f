"""Passes that are stopped by the work left to do, compared with whole passes."""

from collections.abc import Iterable

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.fifo import (
    FifoMemory,
    begin_change,
    change,
    fifo_makespan,
    fifo_memory,
    keep,
    serves,
)
from streamplace.sim.schedule.task_graph import Columns
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
    limited: FifoMemory,
    whole: FifoMemory,
) -> tuple[int, int]:
    """Return the first change for which a limited pass differs, or -1, and how many were kept.

    Parameters
    ----------
    moved, target
        (K, B) operators that each change moves, and the device that they move to, (K,).
    factors
        (K,) limit of each pass, in shares of the makespan.
    """
    fifo_makespan(tasks, devices, limited, np.inf, limited.load)
    keep(limited)
    kept = 0
    for k in range(moved.shape[0]):
        tried = devices.copy()
        begin_change(limited)
        for v in moved[k]:
            if tried[v] != target[k]:
                tried[v] = target[k]
                change(tasks, limited, v, devices[v], target[k])
        seconds = fifo_makespan(tasks, tried, whole, np.inf, None)
        limit = seconds * factors[k]
        found = fifo_makespan(tasks, tried, limited, limit, limited.load)
        if found != (seconds if seconds <= limit else np.inf):
            return k, kept
        if seconds <= limit:
            keep(limited)
            kept += 1
            devices = tried
            if limited.last[0] != whole.last[0]:
                return k, kept
            for v in range(devices.shape[0]):
                if limited.cause[v] != whole.cause[v]:
                    return k, kept
    return -1, kept


def check_limited_passes(seeds: Iterable[int], *, large: bool) -> None:
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


def test_limited_passes_equal_whole_ones() -> None:
    check_limited_passes(range(150), large=False)
    check_limited_passes(range(100), large=True)


@pytest.mark.long
def test_limited_passes_of_many_problems(share: Share) -> None:
    check_limited_passes(share.of(range(150, 2000)), large=False)
    check_limited_passes(share.of(range(100, 2000)), large=True)
