"""Lower bounds on the makespan of any placement under any order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.schedule.ranks import optimistic_costs
from sim.schedule.task_graph import Columns, TaskGraph, message_seconds, seconds_on

Bools = NDArray[np.bool_]
SLICES = 24  # quantiles of heads and tails between which work is summed
PRICING = 60  # rounds in which prices of devices are adapted to the work
LEAST = 1e-9  # smallest mean share of a device, relative to the largest
STEP = 0.5  # relative change of the prices of the busiest device in the first of them


class Bounds(NamedTuple):
    """Lower bounds on the makespan, in seconds."""

    path: float  # the communication-aware critical path
    work: float  # work that must be done between a head and a tail

    @property
    def best(self) -> float:
        """The larger one."""
        return max(self.path, self.work)


def lower_bounds(tasks: TaskGraph, allowed: Bools, row_of: Ints) -> Bounds:
    """Return lower bounds on the makespan.

    The path bound follows operators and devices: an operator ends on a device no earlier than the
    best devices of its inputs permit, and after it comes at least PEFT's optimistic cost. The work
    bound cuts time at a head and a tail: all operators that can only run in between need the
    devices for their work.

    Parameters
    ----------
    allowed, row_of
        (M, D) masks of devices, and the index of each operator's mask, (V,).
    """
    allowed = np.ascontiguousarray(allowed)
    ends = _earliest_ends(tasks.columns, allowed, row_of)
    ahead = optimistic_costs(tasks, allowed, row_of)
    times = _times_on(tasks.columns, allowed, row_of)
    runs = np.isfinite(times)
    path = float(np.where(runs, ends + ahead, np.inf).min(axis=1).max())
    head = (ends - np.where(runs, times, 0.0)).min(axis=1)  # ends are infinite where it cannot run
    tail = np.where(runs, ahead, np.inf).min(axis=1)
    used = np.minimum(tasks.cores[:, None], tasks.device_cores[None, :])
    shares = times * used / tasks.device_cores  # seconds of the whole device
    return Bounds(path, _work_bound(shares, head, tail))


def _work_bound(shares: Floats, head: Floats, tail: Floats) -> float:
    """Return the largest head + work in between + tail.

    Parameters
    ----------
    shares
        (V, D) seconds of a whole device that each operator takes; infinity where it cannot run.
    head, tail
        (V,) earliest start of each operator and shortest time after its end, in seconds.
    """
    best = 0.0
    for cut in _quantiles(head):
        late = head >= cut
        for rest in _quantiles(tail[late]):
            between = late & (tail >= rest)
            floor = cut + rest
            if floor + shares[between].min(axis=1).sum() > best:  # the sum is never too small
                best = max(best, floor + _least_makespan(shares[between]))
    return best


def _quantiles(values: Floats) -> Floats:
    ranks = np.linspace(0.0, 1.0, SLICES)
    return np.unique(np.quantile(values, ranks, method="lower"))


def _least_makespan(shares: Floats) -> float:
    """Return a bound on the time in which devices can do independent divisible work, in seconds.

    With prices of devices that sum to 1, each operator costs at least its cheapest device, and the
    busiest device is busy for at least the total of these costs (linear programming duality).
    """
    prices = _fair_prices(shares)
    best = 0.0
    for step in range(PRICING):
        costs = shares * prices
        cheapest = costs.argmin(axis=1)
        total = float(costs[np.arange(len(costs)), cheapest].sum())
        best = max(best, total)
        if np.all(costs.max(axis=1) <= total / len(costs) * 1e-12 + costs.min(axis=1)):
            break  # every device costs the same: the work can be split to keep all of them busy
        loads = np.bincount(
            cheapest, shares[np.arange(len(costs)), cheapest], minlength=len(prices)
        )
        if loads.max() <= best * (1.0 + 1e-9):
            break
        prices = prices * np.exp(
            STEP / (1.0 + step) * (loads / loads.max() - loads.mean() / loads.max())
        )
        prices /= prices.sum()
    return best


def _fair_prices(shares: Floats) -> Floats:
    """Return prices of devices, (D,), in proportion to their mean speeds."""
    runs = np.isfinite(shares)
    mean = np.where(runs, shares, 0.0).sum(axis=0) / np.maximum(runs.sum(axis=0), 1)
    if not mean.any():
        return np.full(len(mean), 1.0 / len(mean))
    mean = np.maximum(mean, mean.max() * LEAST)
    prices: Floats = (1.0 / mean) / (1.0 / mean).sum()
    return prices


@kernel
def _earliest_ends(tasks: Columns, allowed: Bools, row_of: Ints) -> Floats:
    """Return the earliest possible end of each operator on each device, (V, D) seconds."""
    operators, devices = tasks.work.shape[0], allowed.shape[1]
    arrived = np.zeros((operators, devices))
    ends = np.empty((operators, devices))
    value = np.empty(devices)
    done = np.zeros(operators, np.bool_)
    for e in range(tasks.source.shape[0] + operators):
        v = int(tasks.source[e]) if e < tasks.source.shape[0] else e - tasks.source.shape[0]
        if not done[v]:
            done[v] = True
            for d in range(devices):
                ends[v, d] = np.inf
                if allowed[row_of[v], d]:
                    ends[v, d] = arrived[v, d] + seconds_on(tasks, v, d)
        if e >= tasks.source.shape[0]:
            continue
        w = tasks.target[e]
        value[:] = ends[v]
        best_first = np.argsort(value)
        for b in range(devices):
            soonest = value[b]
            for a in best_first:
                if value[a] >= soonest:
                    break
                seconds = 0.0 if tasks.silent[e] else message_seconds(tasks, tasks.bits[e], a, b)
                soonest = min(soonest, value[a] + seconds)
            arrived[w, b] = max(arrived[w, b], soonest)
    return ends


@kernel
def _times_on(tasks: Columns, allowed: Bools, row_of: Ints) -> Floats:
    """Return the execution time of each operator on each device, (V, D); infinity if forbidden."""
    times = np.full((tasks.work.shape[0], allowed.shape[1]), np.inf)
    for v in range(times.shape[0]):
        for d in range(times.shape[1]):
            if allowed[row_of[v], d]:
                times[v, d] = seconds_on(tasks, v, d)
    return times
