"""Lower bounds on the makespan of any placement under any order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.schedule.ranks import waits
from sim.schedule.task_graph import Columns, TaskGraph, seconds_on
from sim.schedule.work_bound import work_bound

Bools = NDArray[np.bool_]


class Bounds(NamedTuple):
    """Lower bounds on the makespan, in seconds."""

    path: float  # the communication-aware critical path
    work: float  # work that must be done between a head and a tail

    @property
    def best(self) -> float:
        """The larger one."""
        return max(self.path, self.work)


def lower_bounds(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> Bounds:
    """Return lower bounds on the makespan of any placement under any order.

    The path bound follows operators and devices: an operator starts on a device no earlier than the
    best devices of its inputs permit, and after it comes at least PEFT's optimistic cost. The work
    bound cuts time at a head and a tail: all operators that can only run in between need the
    devices for their work.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    """
    allowed = np.ascontiguousarray(allowed)
    before = waits(tasks.columns, allowed, row_of, False)
    after = waits(tasks.columns, allowed, row_of, True)
    times = times_on(tasks.columns, allowed, row_of)
    path = float((before + times + after).min(axis=1).max())
    runs = np.isfinite(times)
    head = np.where(runs, before, np.inf).min(axis=1)
    tail = np.where(runs, after, np.inf).min(axis=1)
    used = np.minimum(tasks.cores[:, None], tasks.device_cores[None, :])
    shares = times * used / tasks.device_cores  # seconds of the whole device
    return Bounds(path, work_bound(shares, head, tail))


@kernel
def times_on(tasks: Columns, allowed: Bools, row_of: Ints) -> Floats:
    """Return the execution time of each operator on each device, (V, D); infinity if forbidden."""
    times = np.full((tasks.work.shape[0], allowed.shape[1]), np.inf)
    for v in range(times.shape[0]):
        for d in range(times.shape[1]):
            if allowed[row_of[v], d]:
                times[v, d] = seconds_on(tasks, v, d)
    return times
