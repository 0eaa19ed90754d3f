"""Choices between placements of equal utilisations: few streams between groups, then low prices."""

from collections.abc import Sequence

import numpy as np

from sim.closed_form.bottleneck import utilisations
from sim.work import own_utilisations
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats, Ints

EXCHANGES = 100  # of the operators of two devices, at most
TRIED = 50  # exchanges whose utilisations are compared, in each step
EQUAL = 1e-9  # difference, relative to the largest utilisation, below which two count as equal
MAX_CELLS = 4_000_000  # exchanges x operators, streams and devices, beyond which they take seconds


def ties(problem: Problem, rows: Ints) -> tuple[Floats, Floats]:
    """Return the streams that join groups of devices, and the price of the used devices, (K,) each.

    Both are 0 where no device is in a group, and unless every device has a price.

    Parameters
    ----------
    rows
        (K, V) devices of placements.
    """
    cluster, arrays, zero = problem.cluster, flow(problem), np.zeros(len(rows))
    joining, price = zero, zero
    if cluster.groups:
        on = cluster.group_of[rows]
        joining = (on[:, arrays.source] != on[:, arrays.target]).sum(axis=1).astype(np.float64)
    prices = [device.price for device in cluster.devices]
    if None not in prices:
        used = np.zeros((len(rows), len(prices)))
        used[np.arange(len(rows))[:, None], rows] = 1.0
        price = used @ np.array(prices, dtype=np.float64)
    return joining, price


def settled(problem: Problem, placements: Sequence[Placement]) -> Placement:
    """Return the best of equally good placements by `ties`, after exchanges that improve it.

    Two devices of equal speed exchange all their operators, or one takes those of the other, as
    long as that is better, satisfies the constraints and raises no utilisation. The first placement
    is the result under other objectives than throughput.
    """
    first = placements[0]
    equal = len({device.price for device in problem.cluster.devices}) == 1
    if type(problem.objective) is not Throughput or (equal and not problem.cluster.groups):
        return first
    rows = np.stack([placement.devices for placement in placements])
    best = int(np.lexsort(ties(problem, rows)[::-1])[0])
    row, steps = rows[best], 0
    while steps < EXCHANGES and (better := _exchanged(problem, row)) is not None:
        row, steps = better, steps + 1
    return placements[best] if steps == 0 else Placement(problem, row)


def _exchanged(problem: Problem, row: Ints) -> Ints | None:
    """Return the best placement after one exchange; None if none of the most promising will do."""
    speed, used = problem.cluster.capacity, np.unique(row)
    first, second = np.meshgrid(used, np.arange(len(speed)), indexing="ij")
    once = ~np.isin(second, used) | (first < second)
    of_equal = once & (speed[first] == speed[second])
    first, second = first[of_equal][:, None], second[of_equal][:, None]
    arrays = flow(problem)
    if len(first) * (len(row) + len(arrays.source) + len(speed)) > MAX_CELLS:
        return None
    rows = np.where(row == first, second, np.where(row == second, first, row)).astype(row.dtype)
    joining, price = ties(problem, rows)
    (now_joining,), (now_price,) = ties(problem, row[None])
    cheaper = price < now_price * (1.0 - EQUAL)
    better = (joining < now_joining) | ((joining == now_joining) & cheaper)
    before = _loads(problem, row)
    for i in [i for i in np.lexsort((price, joining)).tolist() if better[i]][:TRIED]:
        if problem.feasibility.violation(rows[i]) is None:
            change = _loads(problem, rows[i]) - before
            unequal = np.flatnonzero(np.abs(change) > EQUAL * before[0])
            if not len(unequal) or change[unequal[0]] < 0.0:
                found: Ints = rows[i]
                return found
    return None


def _loads(problem: Problem, row: Ints) -> Floats:
    """Return all utilisations of a placement, the largest first, after the largest of operators."""
    arrays = flow(problem)
    shared = np.concatenate(utilisations(arrays, row))
    largest = max(float(shared.max()), float(own_utilisations(arrays, row).max()))
    return np.concatenate(([largest], -np.sort(-shared)))
