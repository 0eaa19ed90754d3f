"""Simulated annealing of the largest utilisation by moves and swaps (Kirkpatrick et al. 1983).

Most moves do not change the largest utilisation. Annealing therefore minimises the sum of a high
power of all utilisations, whose root is a smooth maximum. The best placement is the one whose
largest utilisation is lowest.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.jit import bare, kernel
from streamplace.sim.search.instance import Instance
from streamplace.sim.search.moves import drawn, remember, settle, try_move, weigh
from streamplace.sim.search.rng import Word, uniform
from streamplace.sim.search.state import SearchState

# A power of two, so that four multiplications compute it. Lower ones see more of the other loads,
# higher ones less; the search of `auto` takes turns (placers/search/pool.py).
POWER = 16  # of utilisations
LEAST_POWER = 8  # below it, the sum hardly depends on the largest load
EVERY = 64  # steps per temperature, which changes by next to nothing in one step
# Changes are added to loads again and again, and their rounding errors with them; anew every 65,536
# steps costs next to nothing, and with more units once per pass.
AFRESH = 1 << 16  # steps between full computations of the loads, or the number of units if larger
BETTER = 1.0 - 1e-12  # factor on the largest load; smaller differences are rounding


class Schedule(NamedTuple):
    """The parameters of an annealing run.

    A temperature is the relative loss that is accepted with probability 1/e.
    """

    steps: int  # number of changes to try
    hot: float  # initial temperature
    cold: float  # final temperature
    swaps: float  # share of the changes that swap two units
    joins: float  # share that move a unit to a neighbour's device; the others move it anywhere
    power: int = POWER  # of utilisations whose sum is minimised: a power of two, at least 8


@kernel
def anneal(
    instance: Instance, now: SearchState, state: Word, schedule: Schedule, enough: float
) -> tuple[float, int]:
    """Anneal a search state in place; its `best` is the placement whose largest load is lowest.

    Parameters
    ----------
    enough
        Largest load / reference at which to stop.

    Returns
    -------
    tuple
        The largest load / reference of the best placement, and the number of steps done.
    """
    remember(now)
    power = schedule.power
    total = _total(now, power)
    top = now.load.max()
    at_top = _count_from(now, BETTER * top)
    temperature = schedule.hot
    cooling = (schedule.cold / schedule.hot) ** (EVERY / max(1.0, np.float64(schedule.steps)))
    afresh = max(AFRESH, instance.work.shape[0] // EVERY * EVERY)
    for step in range(schedule.steps):
        if top <= enough:
            return top, step
        if step % EVERY == 0:
            temperature *= cooling
            if step % afresh == afresh - EVERY:
                weigh(instance, now)
                total = _total(now, power)
                at_top = _count_from(now, BETTER * top)
        trial = drawn(instance, now, state, step, schedule.swaps, schedule.joins)
        if trial.b < 0:
            continue
        try_move(instance, now, trial)
        after = total
        for k in range(now.tally[0]):
            r = now.listed[k]
            after += _power(now.load[r] + now.change[r], power) - _power(now.load[r], power)
        rise = -power * temperature * np.log(1.0 - uniform(state))
        if after > total * np.exp(rise):
            continue
        for k in range(now.tally[0]):
            r = now.listed[k]
            if now.load[r] >= BETTER * top:
                at_top -= 1
            if now.load[r] + now.change[r] >= BETTER * top:
                at_top += 1
        settle(instance, now, trial)
        total = after
        if at_top == 0:
            top = now.load.max()
            at_top = _count_from(now, BETTER * top)
            remember(now)
    return top, schedule.steps


@bare
def _power(x: float, power: int) -> float:
    x *= x
    x *= x
    x *= x
    while power > LEAST_POWER:
        x *= x
        power >>= 1
    return x


@bare
def _total(now: SearchState, power: int) -> float:
    total = 0.0
    for r in range(now.load.shape[0]):
        total += _power(now.load[r], power)
    return total


@bare
def _count_from(now: SearchState, level: float) -> int:
    count = 0
    for r in range(now.load.shape[0]):
        if now.load[r] >= level:
            count += 1
    return count
