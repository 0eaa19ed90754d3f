"""Passes under fixed priorities without events of messages, compared with those of the engine."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.engine import run_pass
from streamplace.sim.schedule.passes import NO_NOISE
from streamplace.sim.schedule.ranked import makespan_of
from streamplace.sim.schedule.state import RANKED, Noise, Order, Run, run_state
from streamplace.sim.schedule.task_graph import NIC, PAIR, Columns, TaskGraph
from tests.support.schedule_tasks import task_problem
from tests.support.share import Share

PLACEMENTS = 8  # per problem
UNSERVED = -1.0


@kernel
def compare(
    tasks: Columns,
    order: Order,
    noise: Noise,
    placements: Ints,
    factors: Floats,
    quick: Run,
    whole: Run,
) -> tuple[int, int]:
    """Return the first placement whose passes differ, or -1, and how many needed no engine.

    Parameters
    ----------
    factors
        (K,) limit of each pass, in shares of the makespan.
    """
    served = 0
    for i in range(placements.shape[0]):
        devices = placements[i]
        seconds = run_pass(tasks, order, noise, devices, whole, np.inf)
        limit = seconds * factors[i]
        quick.start[0] = UNSERVED  # which only the engine sets
        found = makespan_of(tasks, order, noise, devices, quick, limit)
        served += quick.start[0] == UNSERVED
        if found != (seconds if seconds <= limit else np.inf):
            return i, served
        if seconds <= limit:
            if quick.last[0] != whole.last[0]:
                return i, served
            for v in range(devices.shape[0]):
                same = quick.cause[v] == whole.cause[v]
                if not (same and quick.last_input[v] == whole.last_input[v]):
                    return i, served
    return -1, served


def without_rest(tasks: TaskGraph) -> TaskGraph:
    """Return a problem without what the kernel leaves to the engine."""
    nothing = np.zeros_like(tasks.rate)
    return replace(
        tasks,
        measured_s=np.where(tasks.measured_s == 0.0, 0.5, tasks.measured_s),
        network=PAIR if tasks.network == NIC else tasks.network,
        overhead_s=nothing,
        overhead_in_s=nothing,
        overhead_s_per_bit=np.zeros(tasks.devices),
        rate_in=np.zeros(0),
        gap_in_s=np.zeros(0),
        barrier=False,
    )


def check_passes(seeds: Iterable[int], *, large: bool) -> None:
    """Check the makespan, the operator that ends last, and what each operator waited for."""
    served = problems = 0
    for seed in seeds:
        tasks = task_problem(schedule_problem(seed, large=large)).tasks
        if seed % 4:
            tasks = without_rest(tasks)
        rng = np.random.default_rng(seed)
        sequence = rng.permutation(tasks.operators).astype(np.int32)
        order = Order(RANKED, np.argsort(sequence).astype(np.int32), sequence)
        rows = rng.integers(0, tasks.devices, (PLACEMENTS, tasks.operators), dtype=np.int32)
        factors = np.where(rng.random(PLACEMENTS) < 0.5, 1.0, rng.uniform(0.7, 1.3, PLACEMENTS))
        memories = run_state(tasks.columns), run_state(tasks.columns)
        different, count = compare(tasks.columns, order, NO_NOISE, rows, factors, *memories)
        assert different == -1, (seed, large)
        served, problems = served + count, problems + 1
    assert served > PLACEMENTS * problems / 2 > 0


def test_passes_equal_those_of_the_engine() -> None:
    check_passes(range(150), large=False)
    check_passes(range(100), large=True)


@pytest.mark.long
def test_passes_of_many_problems(share: Share) -> None:
    check_passes(share.of(range(150, 2000)), large=False)
    check_passes(share.of(range(100, 2000)), large=True)
