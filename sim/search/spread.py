"""Changes without loss of throughput: all loads lower, the largest first, or less traffic."""

import numpy as np

from streamplace.sim.flow import Floats
from streamplace.sim.jit import bare, kernel
from streamplace.sim.search.instance import Instance
from streamplace.sim.search.moves import drawn, settle, try_move
from streamplace.sim.search.rng import Word
from streamplace.sim.search.state import Move, SearchState

# Most changes join a neighbour, which lowers traffic; a guess, not tuned.
TRAFFIC_SWAPS, TRAFFIC_JOINS = 0.3, 0.6
# Fewer joins, since they raise one of the loads that are to fall; a guess, not tuned.
SWAPS, JOINS = 0.4, 0.2
NO_WORK = 1e-100  # a load below which there is nothing to lower; dividing by less may overflow


@kernel
def reduce_traffic(
    instance: Instance, now: SearchState, state: Word, steps: int, limit: float
) -> None:
    """Improve a search state in place by changes that lower the bit/s between devices.

    No load rises above `limit`; loads that are already higher do not rise at all.
    """
    for step in range(steps):
        trial = drawn(instance, now, state, step, TRAFFIC_SWAPS, TRAFFIC_JOINS)
        if trial.b < 0 or crossing(instance, now, trial) >= 0.0:
            continue
        try_move(instance, now, trial)
        fits = True
        for k in range(now.tally[0]):
            r = now.listed[k]
            after = now.load[r] + now.change[r]
            if after > limit and after > now.load[r]:
                fits = False
        if fits:
            settle(instance, now, trial)


@bare
def crossing(instance: Instance, now: SearchState, trial: Move) -> float:
    """Return an upper bound on the rise of the bit/s between devices, rounding included."""
    raised = _raised(instance, now, trial.u, trial.a, trial.b)
    if trial.other >= 0:
        now.on[trial.u] = trial.b
        raised += _raised(instance, now, trial.other, now.on[trial.other], trial.c)
        now.on[trial.u] = trial.a
    return raised


@bare
def _raised(instance: Instance, now: SearchState, u: int, a: int, b: int) -> float:
    raised, total = 0.0, 0.0
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c = now.on[instance.other[i]]
        total += instance.bits[i]
        if c == a:
            raised += instance.bits[i]
        elif c == b:
            raised -= instance.bits[i]
    # Sums round, so that a change that gains less could undo itself and go on for ever.
    return raised + 1e-9 * total


@kernel
def spread(instance: Instance, now: SearchState, state: Word, steps: int, unit: float) -> None:
    """Improve a search state in place by changes that lower its sorted loads, the largest first.

    Of two placements, the better one has the lower load at the first place where the loads of
    devices and links, sorted from the largest, differ (the leximax order); where none differ, the
    one with less traffic. Loads are compared in whole units. Loads that a change leaves alone stand
    in both lists and cancel, so only those that it changes are sorted. No load rises above the
    largest one.

    Parameters
    ----------
    unit
        Difference of loads, relative to the largest one, below which traffic decides.
    """
    links_end = instance.capacity.shape[0] + instance.gap_s.shape[0]
    largest = now.load.max()
    if largest * unit < NO_WORK:
        return
    before, after = np.empty(links_end), np.empty(links_end)
    for step in range(steps):
        trial = drawn(instance, now, state, step, SWAPS, JOINS)
        if trial.b < 0:
            continue
        try_move(instance, now, trial)
        count = _listed(now, before, after, largest, unit)
        if count < 0:
            continue
        rise = after[:count].max() - before[:count].max()
        if rise == 0.0:  # most trials are decided without sorting
            before[:count].sort()
            after[:count].sort()
            rise = _first_rise(before, after, count)
        if rise < 0.0 or (rise == 0.0 and crossing(instance, now, trial) < 0.0):
            settle(instance, now, trial)


@bare
def _listed(now: SearchState, before: Floats, after: Floats, largest: float, unit: float) -> int:
    """Write the loads that the trial changes, in units; return their number, or -1 to refuse it.

    Loads of single operators, which come last, are no loads of a device or link.
    """
    count = 0
    for k in range(now.tally[0]):
        r = now.listed[k]
        load = now.load[r] + now.change[r]
        if load > largest and load > now.load[r]:
            return -1
        if r < before.shape[0]:
            before[count] = np.rint(now.load[r] / (largest * unit))
            after[count] = np.rint(load / (largest * unit))
            count += 1
    return count


@bare
def _first_rise(before: Floats, after: Floats, count: int) -> float:
    """Return the first difference of sorted loads, from the largest down; 0 if there is none."""
    for k in range(count - 1, -1, -1):
        if after[k] != before[k]:
            return float(after[k] - before[k])
    return 0.0
