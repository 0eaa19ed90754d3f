"""Lower bounds on the makespan of any placement under any order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.schedule.ranks import waits
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, seconds_on

# Cuts x operators that one search examines, so that bounds take less than a ms; a guess.
CELLS = 1 << 18
FEWEST_CUTS = 16  # on large graphs: with fewer, the interval is hardly one; a guess, not tuned
# Rounds in which prices of devices are adapted to the work; any prices give a valid bound.
PRICING = 60  # so many that steps fall to a hundredth, see `SLOWING`; a guess
FEWEST_PRICINGS = 6  # on large graphs; a guess, not tuned
# Times that the interval is searched again with adapted prices; it often ends before. A guess.
ROUNDS = 6
# Smallest mean share of a device, relative to the largest: prices are its inverse, and finite.
LEAST = 1e-9
# Steps fall so that prices settle: the last is a hundredth of the first.
STEP, SLOWING = 0.5, 0.93  # relative change of prices in the first round, and its decrease
CLOSE = 1e-9  # relative difference of loads that counts as none: rounding
Bools = NDArray[np.bool_]


def work_bound(shares: Floats, head: Floats, tail: Floats) -> float:
    """Return the largest head + work in between + tail, in seconds.

    With prices of devices that sum to 1, each operator costs at least its cheapest device, and the
    busiest device is busy for at least the total of these costs (linear programming duality). The
    interval for which the total is largest is searched, prices are adapted to its operators, and
    both steps are repeated.

    Parameters
    ----------
    shares
        (V, D) seconds of a whole device that each operator takes; infinity where it cannot run.
    head, tail
        (V,) earliest start of each operator and shortest time after its end, in seconds.
    """
    most = max(FEWEST_CUTS, CELLS // len(head))
    cuts = np.unique(head)
    if len(cuts) > most:
        # Any cuts give a valid bound, so that a sample does on large graphs.
        cuts = np.unique(np.quantile(head, np.linspace(0.0, 1.0, most), method="lower"))
    by_tail = np.argsort(-tail, kind="stable").astype(np.int32)
    devices = _by_shares(shares, head, tail)
    return float(_work_bound(np.ascontiguousarray(shares[:, devices]), head, tail, cuts, by_tail))


def _by_shares(shares: Floats, head: Floats, tail: Floats) -> list[int]:
    """Return the devices in an order that depends only on what operators take on them.

    Where an operator costs the same on several devices, the first one counts as its device, so
    adapted prices and the bound depend on the order of devices.
    """
    operators = np.lexsort((shares.max(axis=1), shares.min(axis=1), tail, head))
    columns = shares[operators].T.astype(">f8")  # whose bytes are in the order of the numbers
    return sorted(range(len(columns)), key=lambda d: columns[d].tobytes())


def prices_of(shares: Floats, among: NDArray[np.bool_]) -> Floats:
    """Return prices of devices, (D,), for which the work of some operators costs much.

    Parameters
    ----------
    shares
        (V, D) seconds of a whole device that each operator takes; infinity where it cannot run.
    among
        (V,) the operators.
    """
    shares = np.ascontiguousarray(shares)
    prices, loads = np.empty((2, shares.shape[1]))
    _set_fair_prices(shares, prices)
    _adapt(shares, among, prices, loads)
    return prices


@kernel
def _work_bound(shares: Floats, head: Floats, tail: Floats, cuts: Floats, by_tail: Ints) -> float:
    operators, devices = shares.shape
    among = np.ones(operators, np.bool_)
    prices, loads = np.empty(devices), np.empty(devices)
    costs = np.empty(operators)
    best = 0.0
    for number in range(ROUNDS):
        if number == 0:
            _set_fair_prices(shares, prices)
            _adapt(shares, among, prices, loads)
        for v in range(operators):
            d = _cheapest(shares, prices, v)
            costs[v] = shares[v, d] * prices[d]
        bound, cut, rest = _best_interval(costs, head, tail, cuts, by_tail)
        if number > 0 and bound <= best * (1.0 + CLOSE):
            break
        for v in range(operators):
            among[v] = head[v] >= cut and tail[v] >= rest
        best = max(best, bound, cut + rest + _adapt(shares, among, prices, loads))
    return best


@bare
def _best_interval(
    costs: Floats, head: Floats, tail: Floats, cuts: Floats, by_tail: Ints
) -> tuple[float, float, float]:
    """Return the largest head + total cost + tail, with the head and the tail."""
    best, best_cut, best_rest = -1.0, 0.0, 0.0
    for cut in cuts:
        total = cut
        for v in by_tail:
            if head[v] >= cut:
                total += costs[v]
                if total + tail[v] > best:
                    best, best_cut, best_rest = total + tail[v], cut, tail[v]
    return best, best_cut, best_rest


@bare
def _cheapest(shares: Floats, prices: Floats, v: int) -> int:
    """Return the device on which an operator costs least; 0 x infinity counts as infinity."""
    best, cheapest = np.inf, 0
    for d in range(prices.shape[0]):
        cost = shares[v, d] * prices[d]
        if cost < best:
            best, cheapest = cost, d
    return cheapest


@kernel
def _adapt(shares: Floats, among: NDArray[np.bool_], prices: Floats, loads: Floats) -> float:
    """Improve prices for some operators; return the largest total cost that was found."""
    best = 0.0
    best_prices = prices.copy()
    operators, devices = shares.shape
    for step in range(max(FEWEST_PRICINGS, min(PRICING, 4 * CELLS // (operators * devices)))):
        loads[:] = 0.0
        total, is_split = 0.0, True
        for v in range(operators):
            if among[v]:
                d = _cheapest(shares, prices, v)
                loads[d] += shares[v, d]
                cost = shares[v, d] * prices[d]
                total += cost
                for other in range(devices):
                    is_split &= shares[v, other] * prices[other] <= cost * (1.0 + CLOSE)
        if total > best:
            best = total
            best_prices[:] = prices
        busiest = loads.max()
        if is_split or busiest <= best * (1.0 + CLOSE):  # the work can be done in that time
            break
        mean = loads.mean()
        for d in range(prices.shape[0]):
            prices[d] *= np.exp(STEP * SLOWING**step * (loads[d] - mean) / busiest)
        prices /= prices.sum()
    prices[:] = best_prices
    return best


@kernel
def _set_fair_prices(shares: Floats, prices: Floats) -> None:
    """Set the prices of devices in proportion to their mean speeds."""
    for d in range(prices.shape[0]):
        total, count = 0.0, 0
        for v in range(shares.shape[0]):
            if 0.0 < shares[v, d] < np.inf:
                total += shares[v, d]
                count += 1
        prices[d] = total / count if count else np.inf  # without work, no price
    largest = 0.0
    for d in range(prices.shape[0]):
        if np.isfinite(prices[d]):
            largest = max(largest, prices[d])
    for d in range(prices.shape[0]):
        prices[d] = 1.0 / max(prices[d], largest * LEAST) if largest > 0.0 else 1.0
    prices /= prices.sum()


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
