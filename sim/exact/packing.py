"""A test of whether the remaining CPU work fits: one knapsack per device, with rounded work.

Assign a value to every unit. If the largest values that fit the remaining capacity of each device
add up to less than the value of the remaining units, the units do not fit. Work itself is a weak
choice of value. Work rounded to whole steps of 1/k of a device shows, for example, that no device
can take a third unit of 0.4. Such values are dual feasible functions of bin packing (Lueker 1983).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.exact.partial import Partial, is_spare
from sim.flow import Floats, Ints
from sim.jit import bare
from sim.search.instance import Bools, Instance, least_load, work_of_unit

COARSEST, FINEST = 2, 80  # steps per device
USED = 8  # numbers of steps in use, the most effective ones


class Packing(NamedTuple):
    """Values of units, and scratch arrays."""

    value: NDArray[np.int64]  # (FINEST + 1, U) by the number of steps
    steps: Ints  # (USED,) numbers of steps in use
    tightness: Floats  # (USED,) required value over value that fits, with nothing placed
    least: Floats  # (2 * FINEST + 1,) smallest work that has each value
    worth: NDArray[np.int64]  # (D,) largest value that fits


def packing(instance: Instance, limit: float) -> Packing:
    """Return the values of an instance's units for loads / reference up to `limit`."""
    share = least_load(instance) / limit
    value = np.floor(np.arange(FINEST + 1)[:, None] * share + 0.5)
    return Packing(
        value=np.minimum(value, 2 * FINEST + 1).astype(np.int64),
        steps=np.arange(COARSEST, COARSEST + USED, dtype=np.int32),
        tightness=np.zeros(USED),
        least=np.zeros(2 * FINEST + 1),
        worth=np.zeros(len(instance.capacity), np.int64),
    )


@bare
def choose_steps(
    instance: Instance, now: Partial, fits: Bools, limit: float, weighed: Packing
) -> None:
    """Select the numbers of steps that come closest to a proof with nothing placed."""
    tightness = weighed.tightness
    for k in range(USED):
        tightness[k] = 0.0
    for steps in range(COARSEST, FINEST + 1):
        required, fitting = _values(instance, now, 0, fits, limit, weighed, steps)
        ratio = required / max(1.0, np.float64(fitting))
        loosest = 0
        for k in range(USED):
            if tightness[k] < tightness[loosest]:
                loosest = k
        if ratio > tightness[loosest]:
            tightness[loosest] = ratio
            weighed.steps[loosest] = steps


@bare
def can_pack(
    instance: Instance, now: Partial, depth: int, fits: Bools, limit: float, weighed: Packing
) -> bool:
    """Return False if the units not placed yet cannot all go to the devices in `fits`, (U, D)."""
    for k in range(USED):
        steps = weighed.steps[k]
        required, fitting = _values(instance, now, depth, fits, limit, weighed, steps)
        if fitting < required:
            return False
    return True


@bare
def _values(
    instance: Instance,
    now: Partial,
    depth: int,
    fits: Bools,
    limit: float,
    weighed: Packing,
    steps: int,
) -> tuple[int, int]:
    """Return the value of all units not placed, and the largest value that fits the devices."""
    required, fitting = 0, 0
    for u in range(now.on.shape[0]):
        if now.on[u] < 0:
            required += weighed.value[steps, u]
    for d in range(instance.capacity.shape[0]):
        if is_spare(now, d):
            weighed.worth[d] = weighed.worth[now.identical[d]]
        else:
            room = (limit - now.load[depth, d]) * instance.capacity[d]
            weighed.worth[d] = _most_value(instance, now, fits, weighed, steps, d, room)
        fitting += weighed.worth[d]
    return required, fitting


@bare
def _most_value(
    instance: Instance, now: Partial, fits: Bools, weighed: Packing, steps: int, d: int, room: float
) -> int:
    """Return the largest value of units in `fits` whose work is at most `room`, for device d.

    Value is at most twice the least work in steps, so it is less than 2 * steps.
    """
    work, value = 0.0, 0
    for u in range(now.on.shape[0]):
        if now.on[u] < 0 and fits[u, d]:
            work += work_of_unit(instance, u, d)
            value += weighed.value[steps, u]
    if work <= room:
        return value
    reached, top = 0, 2 * steps
    weighed.least[0] = 0.0
    for u in range(now.on.shape[0]):
        own = weighed.value[steps, u]
        if now.on[u] >= 0 or not fits[u, d] or own == 0:
            continue
        for v in range(reached + 1, min(top, reached + own) + 1):
            weighed.least[v] = np.inf
        reached = min(top, reached + own)
        work = work_of_unit(instance, u, d)
        for v in range(reached, own - 1, -1):
            weighed.least[v] = min(weighed.least[v], weighed.least[v - own] + work)
    best = 0
    for v in range(reached + 1):
        if weighed.least[v] <= room:
            best = v
    return best
