"""Shares of jobs by linear programs: lexicographic max-min in the slow way.

The largest level of all jobs that are not fixed is one program. A job that cannot rise above it,
by another program, is fixed there.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from streamplace.util.arrays import Bools, Floats, Ints

ACCURACY = 1e-7  # of the solver


def shares(
    loads: Floats, caps: Floats, least: Floats, weights: Floats, classes: Ints
) -> tuple[Floats, Floats]:
    """Return the reserved parts of minimums and the shares of J jobs.

    See `streamplace.sim.filling.fill`.

    Parameters
    ----------
    loads
        (J, R) loads of resources.
    caps, least, weights, classes
        (J,) numbers and classes of the jobs.
    """
    reserved, floors = np.zeros(len(caps)), np.zeros(len(caps))
    for c in range(int(classes.max()) + 1):
        members = (classes == c) & (least > 0)
        reserved = _max_min(loads, np.minimum(caps, least), floors, least, members)
        floors = np.where(members, reserved, floors)
    found, floors = reserved, reserved.copy()
    for c in range(int(classes.max()) + 1):
        members = classes == c
        found = _max_min(loads, caps, floors, weights, members)
        floors = np.where(members, found, floors)
    return reserved, found


def _max_min(loads: Floats, caps: Floats, floors: Floats, units: Floats, members: Bools) -> Floats:
    """Return shares of the members, none below its floor; the others stay at their floors."""
    fixed = np.where(members, np.nan, floors)
    while np.isnan(fixed).any():
        free = np.isnan(fixed)
        level = _largest(loads, caps, floors, fixed, lambda j, t: t * units[j])
        for j in np.flatnonzero(free):

            def others(i: int, t: float, j: int = int(j), level: float = level) -> float:
                return t if i == j else level * units[i]

            most = _largest(loads, caps, floors, fixed, others)
            if most <= level * units[j] + ACCURACY:
                fixed[j] = min(caps[j], max(floors[j], level * units[j]))
    return fixed


def _largest(
    loads: Floats,
    caps: Floats,
    floors: Floats,
    fixed: Floats,
    wanted: Callable[[int, float], float],
) -> float:
    """Return the largest t at which every job j that is not fixed has a share of wanted(j, t).

    `wanted` is affine in t.
    """
    jobs = len(caps)
    free = np.flatnonzero(np.isnan(fixed))
    rows = np.zeros((len(free), jobs + 1))  # wanted(j, t) - x_j <= 0
    for row, j in enumerate(free.tolist()):
        rows[row, j] = -1.0
        rows[row, jobs] = wanted(j, 1.0) - wanted(j, 0.0)
    bounds = [
        (min(floors[j], caps[j]), caps[j]) if np.isnan(fixed[j]) else (fixed[j], fixed[j])
        for j in range(jobs)
    ]
    used = np.concatenate([loads.T, np.zeros((loads.shape[1], 1))], axis=1)
    slack = 1.0 + 1e-11  # shares that are fixed are rounded
    answer = linprog(
        np.append(np.zeros(jobs), -1.0),
        np.concatenate([rows, used]),
        np.concatenate([[-wanted(j, 0.0) for j in free.tolist()], np.full(len(used), slack)]),
        bounds=[*bounds, (0.0, 1e9)],
    )
    assert answer.status == 0, answer.message
    return float(answer.x[-1])
