"""The moves that constraints, limits of devices and lost devices force."""

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.repair import assign, feasible
from streamplace.placers.search.current import Current
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.placement import Placement
from streamplace.scoring.compiled import compiled_parts
from streamplace.util.arrays import Bools, Floats, Ints

MAX_EVICTED = 3  # units that make room for others, at most; beyond them the search takes too long
MAX_TRIES = 500  # sets of units to try
STEPS = 2_000  # backtracking steps per attempt, beyond one step per unit
MAX_UNITS = 2_000  # units up to which all placements within few moves are enumerated


def with_fewest_moves(current: Current) -> Placement:
    """Return a placement after as few moves as possible, on which no operator moves needlessly.

    The fewest moves are proven where the placements within so many moves can be enumerated;
    otherwise, and on problems of more than 2,000 units, few units are tried as those that make
    room. Operators without a current device go to the least loaded device that has room.

    Raises
    ------
    PlacementError
        If no feasible placement is found.
    """
    problem = current.problem
    costs = current.unit_costs(np.ones(len(current.devices)))
    costs = np.where(problem.feasibility.allowed, costs, np.inf)
    draft = _least_loaded(current, costs)
    if problem.feasibility.violation(draft[problem.feasibility.unit_of]) is None:
        return Placement(problem, draft[problem.feasibility.unit_of])
    found = _enumerated(current, costs, draft)
    if found is None:
        found = _with_evictions(current, costs, draft)
    return feasible(problem, draft[problem.feasibility.unit_of] if found is None else found)


def must_move(current: Current, operator: int) -> bool:
    """Return whether no feasible placement leaves an operator (an index) on its current device.

    The result is False if the search for such a placement gives up.
    """
    device = int(current.devices[operator])
    rules = current.problem.feasibility
    if device < 0 or rules.is_free:
        return device < 0
    costs = current.unit_costs(np.ones(len(current.devices)))
    preferred = [_by_cost(rules.allowed[u], costs[u]) for u in range(rules.unit_count)]
    preferred[rules.unit_of[operator]] = [device]
    try:
        assign(current.problem, preferred)
    except InfeasibleError:
        return True
    except PlacementError:
        return False
    return False


def _least_loaded(current: Current, costs: Floats) -> Ints:
    """Return devices of units, (U,): the cheapest, and among those the least loaded.

    Units that only one device is cheapest for go first; the others follow, heaviest first.
    """
    problem = current.problem
    unit_work = np.bincount(problem.feasibility.unit_of, compiled_parts(problem).work)
    cheapest = costs == costs.min(axis=1, keepdims=True)
    on: Ints = cheapest.argmax(axis=1).astype(np.int32)
    undecided = np.flatnonzero(cheapest.sum(axis=1) > 1)
    capacity = problem.cluster.capacity
    decided = np.delete(np.arange(len(on)), undecided)
    load = np.bincount(on[decided], unit_work[decided], len(capacity)) / capacity
    for u in sorted(undecided.tolist(), key=lambda u: -unit_work[u]):
        choices = np.flatnonzero(cheapest[u])
        on[u] = choices[(load[choices] + unit_work[u] / capacity[choices]).argmin()]
        load[on[u]] += unit_work[u] / capacity[on[u]]
    return on


def _enumerated(current: Current, costs: Floats, draft: Ints) -> Ints | None:
    """Return the placement, (V,), nearest to a draft among those with the fewest moves.

    The result is None if there are too many placements to enumerate, or none.
    """
    rules = current.problem.feasibility
    if rules.unit_count > MAX_UNITS:
        return None
    least = costs.min(axis=1).sum()
    finite = np.where(np.isfinite(costs), costs, 0.0)
    for extra in range(int(finite.max(axis=1).sum() - least) + 1):
        rows = feasible_rows(current.problem, finite, least + extra)
        if rows is None:
            return None
        if len(rows):
            nearest: Ints = rows[(rows != draft[rules.unit_of]).sum(axis=1).argmin()]
            return nearest
    return None


def _with_evictions(current: Current, costs: Floats, draft: Ints) -> Ints | None:
    """Return a placement, (V,), for which few units leave their cheapest devices; None if none."""
    rules = current.problem.feasibility
    cheapest = costs == costs.min(axis=1, keepdims=True)
    near = [_by_cost(cheapest[u], _with_first(draft[u], costs[u])) for u in range(len(costs))]
    for evicted in islice(_candidate_sets(current), MAX_TRIES):
        choices = list(near)
        for u in evicted:
            choices[u] = _by_cost(rules.allowed[u] & ~cheapest[u], costs[u])
        try:
            return assign(current.problem, choices, STEPS)[rules.unit_of]
        except (InfeasibleError, PlacementError):
            continue
    return None


def _by_cost(devices: Bools, costs: Floats) -> list[int]:
    """Return the devices of a mask, (D,) bool, the cheapest first."""
    return [int(d) for d in np.argsort(costs, kind="stable") if devices[d]]


def _with_first(device: int, costs: Floats) -> Floats:
    """Return costs, (D,), on which a device comes first."""
    changed = costs.copy()
    changed[device] = -1.0
    return changed


def _candidate_sets(current: Current) -> Iterator[tuple[int, ...]]:
    """Yield sets of units that may be in the way of others, small sets with low needs first."""
    rules = current.problem.feasibility
    apart = {u for group in (*rules.excluding, *rules.separating) for u in group}
    settled = np.unique(rules.unit_of[current.devices >= 0]).tolist()
    units = [u for u in settled if rules.relative_needs[u] > 0 or u in apart]
    units.sort(key=lambda u: rules.relative_needs[u])
    for count in range(MAX_EVICTED + 1):
        yield from combinations(units, count)
