"""Exhaustive search of all placements, or of all within a cost of moves, for small problems."""

import numpy as np

from streamplace.placers.repair import rivals_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities_of_rows
from streamplace.util.arrays import Floats, Ints

MOST_PARTIAL = 20_000  # partial placements kept; all are extended at once in memory; a guess
MAX_CELLS = 20_000_000  # partial placements x units x devices; beyond them it takes seconds
ROUNDING = 1e-9  # relative tolerance of a cost limit, whose sums are made in another order


def feasible_rows(
    problem: Problem,
    unit_costs: Floats | None = None,
    limit: float = np.inf,
    most: int = MOST_PARTIAL,
    distinct: bool = False,
) -> Ints | None:
    """Return all feasible placements whose cost is within a limit, (K, V); None if there are many.

    Placements are extended unit by unit, all of them at once; those that violate a constraint, a
    limit of a device or the limit on cost are dropped.

    Parameters
    ----------
    unit_costs
        (U, D) cost of putting a unit on a device; None: 0.
    limit
        Largest total cost of a placement.
    most
        Number of partial placements beyond which the result is None.
    distinct
        Whether to return only one of the placements that differ by exchanges of the operators of
        interchangeable devices of one group and price. All of these must have equal costs.
    """
    feasibility, devices = problem.feasibility, len(problem.cluster.devices)
    if feasibility.unit_count * devices > MAX_CELLS:
        return None
    costs = np.zeros((feasibility.unit_count, devices)) if unit_costs is None else unit_costs
    cheapest = np.where(feasibility.allowed, costs, np.inf).min(axis=1)
    extra = costs - cheapest[:, None]
    least = float(cheapest.sum())
    rounding = ROUNDING * max(abs(least), abs(limit) if np.isfinite(limit) else 0.0)
    left = np.array([limit - least + rounding])
    most = min(most, MAX_CELLS // (feasibility.unit_count * devices))
    room = feasibility.room[None]
    rivals, distant = rivals_of(feasibility.excluding), rivals_of(feasibility.separating)
    group_of, on_of_rival = problem.cluster.group_of, dict[int, Ints]()
    affordable = (feasibility.allowed & (extra <= left[0])).sum(axis=1)
    levels: list[tuple[int, Ints, Ints]] = []
    before, used = _before(problem), np.zeros((1, devices), dtype=bool)
    # The units with the fewest choices come first, which keeps the number of partial placements
    # low.
    for u in np.argsort(affordable, kind="stable").tolist():
        fits = feasibility.allowed[u] & (extra[u] <= left[:, None])
        if feasibility.limits:
            fits &= (feasibility.needs[u] <= room).all(axis=2)
        for rival in rivals.get(u, set()) & on_of_rival.keys():
            fits[np.arange(len(fits)), on_of_rival[rival]] = False
        for rival in distant.get(u, set()) & on_of_rival.keys():
            fits &= group_of != group_of[on_of_rival[rival]][:, None]
        if distinct:
            # A device is used only after the equal one before it, so that exchanges are enumerated
            # once.
            fits &= (before < 0) | used[:, before]
        parent, device = (found.astype(np.int32) for found in np.nonzero(fits))
        if len(parent) > most:
            return None
        levels.append((u, parent, device))
        left = left[parent] - extra[u, device]
        if distinct:
            used = used[parent]
            used[np.arange(len(parent)), device] = True
        if feasibility.limits:
            room = room[parent]
            room[np.arange(len(parent)), device] -= feasibility.needs[u]
        on_of_rival = {rival: on[parent] for rival, on in on_of_rival.items()}
        if u in rivals or u in distant:
            on_of_rival[u] = device
    return _traced_back(levels)[:, feasibility.unit_of]


def best_and_cheapest(problem: Problem, as_good: float, most: int) -> list[Placement]:
    """Return the best placement, and the cheapest of those that are good enough.

    The cheapest one has the fewest devices, then the least traffic between devices. All placements
    are tried, of those that differ by exchanges of equal devices only one. The result is empty if
    none is feasible, or if there are too many to try.

    Parameters
    ----------
    as_good
        Share of the best quality that is good enough.
    most
        Number of placements beyond which there are too many.
    """
    rows = feasible_rows(problem, most=most, distinct=True)
    if rows is None or not len(rows):
        return []
    reached = qualities_of_rows(problem, rows)
    best = Placement(problem, rows[reached.argmax()])
    rows = rows[reached >= as_good * reached.max()]
    used = (rows[:, :, None] == np.arange(len(problem.cluster.devices))).any(axis=1).sum(axis=1)
    arrays = flow(problem)
    crossing = rows[:, arrays.source] != rows[:, arrays.target]
    cheapest = np.lexsort((crossing @ arrays.stream_bits, used))[0]
    return [best, Placement(problem, rows[cheapest])]


def _before(problem: Problem) -> Ints:
    """Return, for each device, the last earlier one that may stand for it, (D,); -1 if none."""
    last: dict[object, int] = {}
    found = []
    devices = problem.cluster.devices
    for i, (kind, device) in enumerate(zip(interchangeable(problem), devices, strict=True)):
        key = int(kind), device.group, device.price
        found.append(last.get(key, -1))
        last[key] = i
    return np.array(found, dtype=np.int32)


def _traced_back(levels: list[tuple[int, Ints, Ints]]) -> Ints:
    """Return devices of units, (K, U), from each level's unit, parents and devices."""
    reached = np.arange(len(levels[-1][1]), dtype=np.int32)
    on = np.empty((len(reached), len(levels)), dtype=np.int32)
    for u, parent, device in reversed(levels):
        on[:, u] = device[reached]
        reached = parent[reached]
    return on
