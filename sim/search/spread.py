"""Lexicographic reduction of loads: the largest first, then the second largest, and so on."""

import numpy as np

from sim.flow import Floats
from sim.jit import bare, kernel
from sim.search.instance import Instance
from sim.search.moves import drawn, settle, try_move
from sim.search.rng import Word
from sim.search.state import SearchState
from sim.search.traffic import crossing

SWAPS, JOINS = 0.4, 0.2
NO_WORK = 1e-100  # a load below which there is nothing to lower


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
