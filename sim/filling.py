"""Progressive filling: weighted max-min shares of resources that several jobs load linearly.

J jobs run at shares x of their source rates, 0 <= x <= `caps`. Job j uses x_j * loads[j, r] of
resource r, whose capacity is 1. Jobs of one class rise together, at the speed of their weights,
until a resource is full; the jobs on it stop there and the others go on. The shares are then
lexicographically largest when sorted, because a job that stops could only rise at the expense of
one that is no further (Bertsekas, Gallager: Data Networks, 1992, section 6.5.2).
"""

from math import inf

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel

FULL = 1e-12  # share of a resource that counts as none left: rounding errors
WAITING, RISING, STOPPED = range(3)
CAPPED = -1  # what limits a job that no resource limits


@kernel
def fill(
    loads: Floats,
    caps: Floats,
    least: Floats,
    weights: Floats,
    classes: Ints,
    reserved: Floats,
    shares: Floats,
    limits: Ints,
) -> None:
    """Compute the shares of J jobs on R resources for each of K placements.

    Classes are filled in order. The minimum shares are reserved first, for all classes: within a
    class they rise at the speed of the minimums. Then the shares rise from there.

    Parameters
    ----------
    loads
        (K, J, R) loads of resources at the full source rates, relative to their capacity.
    caps
        (K, J) the largest share that each job can reach alone, at most 1.
    least, weights
        (J,) minimum shares, and the speeds at which shares rise, above 0.
    classes
        (J,) the class of each job, from 0, which is filled first, without gaps.
    reserved
        (K, J) is set to the part of each minimum that holds.
    shares
        (K, J) is set to the shares.
    limits
        (K, J) is set to the resource that stopped each job, or `CAPPED`.
    """
    jobs, resources = loads.shape[1], loads.shape[2]
    left, ends, state = np.empty(resources), np.empty(jobs), np.empty(jobs, np.int32)
    for k in range(loads.shape[0]):
        x, limit = shares[k], limits[k]
        x[:] = 0.0
        limit[:] = CAPPED
        for j in range(jobs):
            ends[j] = min(caps[k, j], least[j])
        for c in range(classes.max() + 1):
            for j in range(jobs):
                state[j] = WAITING if classes[j] == c and least[j] > 0.0 else STOPPED
            _raise(loads[k], least, ends, x, limit, left, state)
        reserved[k] = x
        for c in range(classes.max() + 1):
            for j in range(jobs):
                state[j] = WAITING if classes[j] == c else STOPPED
                if classes[j] == c:
                    limit[j] = CAPPED
            _raise(loads[k], weights, caps[k], x, limit, left, state)


@bare
def _raise(
    loads: Floats,
    speed: Floats,
    ends: Floats,
    x: Floats,
    limit: Ints,
    left: Floats,
    state: Ints,
) -> None:
    """Raise the shares of the jobs that are not stopped, each from its present share to its end.

    At level t, a job that rises has the share t * speed; one whose share is still larger waits.
    """
    level = 0.0
    while _stop_on_full(loads, x, limit, left, state):
        level, full = _following(loads, speed, ends, x, left, state, level)
        for j in range(x.shape[0]):
            if state[j] == RISING:
                x[j] = min(ends[j], level * speed[j])
            if state[j] == STOPPED:
                continue
            if x[j] >= ends[j] or (state[j] == RISING and ends[j] / speed[j] <= level):
                state[j] = STOPPED
            elif full >= 0 and loads[j, full] > 0.0:
                limit[j], state[j] = full, STOPPED
            elif x[j] / speed[j] <= level:
                state[j] = RISING


@bare
def _following(
    loads: Floats,
    speed: Floats,
    ends: Floats,
    x: Floats,
    left: Floats,
    state: Ints,
    level: float,
) -> tuple[float, int]:
    """Return the next level at which a job starts or stops, and the resource that is full then.

    The resource is -1 if a job starts to rise, or reaches its end, first.
    """
    following, full = inf, -1
    for j in range(x.shape[0]):
        if state[j] == WAITING:
            following = min(following, x[j] / speed[j])
        elif state[j] == RISING:
            following = min(following, ends[j] / speed[j])
    for r in range(left.shape[0]):
        rate = 0.0
        for j in range(x.shape[0]):
            if state[j] == RISING:
                rate += speed[j] * loads[j, r]
        if rate > 0.0 and level + left[r] / rate < following:
            following, full = level + left[r] / rate, r
    return following, full


@bare
def _stop_on_full(loads: Floats, x: Floats, limit: Ints, left: Floats, state: Ints) -> bool:
    """Update what is left of each resource, stop the jobs on full ones; return whether any is left.

    What is left is summed anew, so that rounding errors do not add up.
    """
    for r in range(left.shape[0]):
        left[r] = 1.0
        for j in range(x.shape[0]):
            left[r] -= x[j] * loads[j, r]
        if left[r] <= FULL:
            for j in range(x.shape[0]):
                if state[j] != STOPPED and loads[j, r] > 0.0:
                    limit[j], state[j] = r, STOPPED
    is_any_left = False
    for j in range(x.shape[0]):
        is_any_left |= state[j] != STOPPED
    return is_any_left
