"""The moves of a migration: those that are forced, and the removal of those that gain nothing."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, islice

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.repair import assign, feasible
from streamplace.placers.search.current import Current
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.placers.search.nearby import Nearby
from streamplace.problem.placement import Placement
from streamplace.scoring.compiled import compiled_parts
from streamplace.scoring.registry import evaluator
from streamplace.sim import work_clock
from streamplace.util.arrays import Bools, Floats, Ints

MAX_EVICTED = 3  # units that make room for others, at most; beyond them the search takes too long
MAX_TRIES = 500  # sets of units to try, each of up to `STEPS` steps; a guess, not tuned
# Backtracking steps per attempt, beyond one step per unit: few, as another set follows.
STEPS = 2_000
# Units up to which all placements within few moves are enumerated; a guess, not tuned.
MAX_UNITS = 2_000
FEW_MOVES = 8  # units that moved, all sets of which are moved back: 256 placements to score
# Pairs of units that are moved back together; all of 63 units that moved. A guess, not tuned.
MAX_PAIRS = 2_000
# Without them, a search that spent its budget would return moves that gain nothing.
MIN_TRIES = 50  # groups of units that are tried even if the budget is spent
# Operators x placements scored at a time, so that memory and time of a step stay small; a guess.
MAX_CELLS = 4_000_000


def with_fewest_moves(current: Current) -> Placement:
    """Return a placement after as few moves as possible, on which no operator moves needlessly.

    The fewest moves are proven where the placements within so many moves can be enumerated;
    otherwise, and on problems of more than 2,000 units, few units are tried as those that make
    room. Operators without a current device go to the least loaded device that has room.
    """
    problem = current.problem
    costs = current.unit_costs(np.ones(len(current.devices)))
    costs = np.where(problem.feasibility.allowed, costs, np.inf)
    draft = _least_loaded(current, costs)
    # Each unit is on its cheapest device, so that no placement needs fewer moves.
    if problem.feasibility.violation(draft[problem.feasibility.unit_of]) is None:
        return Placement(problem, draft[problem.feasibility.unit_of])
    found = _nearest_of_all(current, costs, draft)
    if found is None:
        found = _with_evictions(current, costs, draft)
    return feasible(problem, draft[problem.feasibility.unit_of] if found is None else found)


def must_move(current: Current, operator: int) -> bool:
    """Return whether no feasible placement leaves an operator (an index) on its current device.

    The result is False if the search for such a placement gives up.
    """
    device = int(current.devices[operator])
    feasibility = current.problem.feasibility
    if device < 0 or feasibility.is_free:
        return device < 0
    costs = current.unit_costs(np.ones(len(current.devices)))
    preferred = [_by_cost(feasibility.allowed[u], costs[u]) for u in range(feasibility.unit_count)]
    preferred[feasibility.unit_of[operator]] = [device]
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


def _nearest_of_all(current: Current, costs: Floats, draft: Ints) -> Ints | None:
    """Return the placement, (V,), nearest to a draft among those with the fewest moves.

    The result is None if there are too many placements to enumerate, or none.
    """
    feasibility = current.problem.feasibility
    if feasibility.unit_count > MAX_UNITS:
        return None
    least = costs.min(axis=1).sum()
    finite = np.where(np.isfinite(costs), costs, 0.0)
    # Cost by cost, so that the first placements found are those of the fewest moves.
    for extra in range(int(finite.max(axis=1).sum() - least) + 1):
        rows = feasible_rows(current.problem, finite, least + extra)
        if rows is None:
            return None
        if len(rows):
            nearest: Ints = rows[(rows != draft[feasibility.unit_of]).sum(axis=1).argmin()]
            return nearest
    return None


def _with_evictions(current: Current, costs: Floats, draft: Ints) -> Ints | None:
    """Return a placement, (V,), for which few units leave their cheapest devices; None if none."""
    feasibility = current.problem.feasibility
    cheapest = costs == costs.min(axis=1, keepdims=True)
    near = [_by_cost(cheapest[u], _with_first(draft[u], costs[u])) for u in range(len(costs))]
    for evicted in islice(_candidate_sets(current), MAX_TRIES):
        choices = list(near)
        for u in evicted:
            choices[u] = _by_cost(feasibility.allowed[u] & ~cheapest[u], costs[u])
        try:
            return assign(current.problem, choices, STEPS)[feasibility.unit_of]
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
    feasibility = current.problem.feasibility
    apart = {u for group in (*feasibility.excluding, *feasibility.separating) for u in group}
    settled = np.unique(feasibility.unit_of[current.devices >= 0]).tolist()
    units = [u for u in settled if feasibility.relative_needs[u] > 0 or u in apart]
    units.sort(key=lambda u: feasibility.relative_needs[u])
    for count in range(MAX_EVICTED + 1):
        yield from combinations(units, count)


def polished(
    search: Nearby, devices: Ints, worth: Callable[[Ints], Floats], budget: Budget
) -> Ints:
    """Return a placement, (V,), that is worth more, or as much with fewer moves.

    Many units that moved go back at once, then fewer and fewer. After that one or two go back, two
    devices exchange their operators, one takes over those of another, or one or two units go
    elsewhere, as long as this improves the placement and the budget lasts.

    Parameters
    ----------
    worth
        Value of placements, (K,) for (K, V): what they are worth less the price of the moves.
    """
    current, gain = search.current, search.gain
    feasibility = current.problem.feasibility
    value = float(worth(devices[None])[0])

    def loses_nothing(returned: Ints) -> bool:
        nonlocal value
        reached = float(worth(returned[None])[0])
        if reached < value - gain:
            return False
        value = max(value, reached)  # many small losses do not add up
        return True

    devices = _with_many_returned(current, devices, loses_nothing, budget)
    moves = int(current.moves(devices[None])[0])
    neighbours = (_returns, _whole_devices, _single_moves, _double_moves)
    k = 0
    while k < len(neighbours) and budget.left() > 0:
        rows, begun = neighbours[k](current, devices), work_clock.now()
        values, counts = worth(rows), current.moves(rows)
        budget.charge(len(rows), work_clock.now() - begun)
        better = (values > value + gain) | ((values >= value - gain) & (counts < moves))
        order = [i for i in np.lexsort((counts, -values)).tolist() if better[i]]
        chosen = next((i for i in order if feasibility.violation(rows[i]) is None), None)
        if chosen is None:
            k += 1
            continue
        # After a gain, the quickest neighbourhood comes first again.
        devices, moves, k = rows[chosen], int(counts[chosen]), 0
        value = max(value, float(values[chosen]))
    return devices


def best_with_fewest_moves(search: Nearby, rows: Ints, worths: Floats) -> Ints:
    """Return the placement, (V,), that is worth the most; among equals, the one of fewest moves."""
    equal = np.flatnonzero(worths >= worths.max() - search.gain)
    counts = search.current.moves(rows[equal])
    best: Ints = rows[equal[np.lexsort((-worths[equal], counts))[0]]]
    return best


def without_needless_moves(
    current: Current, staying: Ints, found: Ints, better: Callable[[Ints, Ints], bool]
) -> Ints:
    """Return a placement, (V,), after moves that lose nothing when they are undone, have been.

    This is `staying` unless what is left gains something.

    Parameters
    ----------
    staying, found
        (V,) the placement after the necessary moves, and another one.
    better
        Whether a placement, (V,), is better than another one.
    """

    best = found

    def loses_nothing(returned: Ints) -> bool:
        nonlocal best
        if better(best, returned):
            return False
        best = returned if better(returned, best) else best
        return True

    if not better(found, staying):
        return staying
    feasibility, is_slow = (
        current.problem.feasibility,
        evaluator(current.problem).best_possible is None,
    )
    # Where scoring takes long, only the return of all units at once is tried.
    tries = Budget(evaluations=1 if is_slow else max(1, MAX_CELLS // len(found)))
    row = _with_many_returned(current, found, loses_nothing, tries)
    while not is_slow:
        rows = _returns(current, row)[1:]
        nearest = rows[np.argsort(current.moves(rows), kind="stable")]
        back = (
            each for each in nearest if feasibility.violation(each) is None and loses_nothing(each)
        )
        if (fewer := next(back, None)) is None:
            break
        row = fewer
    return row if better(row, staying) else staying


def _with_many_returned(
    current: Current, devices: Ints, loses_nothing: Callable[[Ints], bool], budget: Budget
) -> Ints:
    """Return a placement, (V,), after groups of units have gone back where this loses nothing.

    All units that moved are tried together, then halves of them, and so on down to single ones.
    When the budget is spent, a minimum of groups is still tried.
    """
    feasibility, tries = current.problem.feasibility, 0
    homes = _homes(current, devices)
    size = len(homes)
    while size:
        for first in range(0, len(homes), size):
            if tries >= MIN_TRIES and budget.left() == 0:
                return devices
            tries, begun = tries + 1, work_clock.now()
            target = np.full(feasibility.unit_count, -1, dtype=devices.dtype)
            units, own = zip(*homes[first : first + size], strict=True)
            target[list(units)] = own
            back = target[feasibility.unit_of]
            returned = np.where(back >= 0, back, devices)
            if feasibility.violation(returned) is None and loses_nothing(returned):
                devices = returned
            budget.charge(1, work_clock.now() - begun)
        homes = _homes(current, devices)
        size = min(size // 2, len(homes))
    return devices


def _homes(current: Current, devices: Ints) -> list[tuple[int, int]]:
    """Return each unit of which an operator has moved, with that operator's current device."""
    moved = np.flatnonzero(current.left(devices[None])[0])
    unit_of = current.problem.feasibility.unit_of
    return sorted({(int(unit_of[v]), int(current.devices[v])) for v in moved})


def _returns(current: Current, devices: Ints) -> Ints:
    """Return a placement and those in which one or two units go back to where they were, (K, V).

    If few units have moved, any number of them goes back. If many have, only the placement itself
    is returned.
    """
    unit_of, homes = current.problem.feasibility.unit_of, _homes(current, devices)
    # Too many to score; groups of them have been tried before.
    if len(homes) ** 2 > 2 * min(MAX_CELLS // len(devices), MAX_PAIRS):
        return devices[None]
    rows, most = [devices], len(homes) if len(homes) <= FEW_MOVES else 2
    for back in chain(*(combinations(homes, count) for count in range(1, most + 1))):
        returned = devices.copy()
        for unit, device in back:
            returned[unit_of == unit] = device
        rows.append(returned)
    return np.stack(rows)


def _whole_devices(current: Current, devices: Ints) -> Ints:
    """Return the placements, (K, V), in which a device takes over or exchanges another's units."""
    used = np.unique(devices)
    if len(used) * len(current.problem.cluster.devices) * len(devices) > MAX_CELLS:
        return devices[None]
    rows = [devices]
    for a in used:
        for b in range(len(current.problem.cluster.devices)):
            rows.append(np.where(devices == a, b, devices).astype(devices.dtype))
            rows.append(np.where(devices == b, a, rows[-1]).astype(devices.dtype))
    return np.stack(rows)


def _single_moves(current: Current, devices: Ints) -> Ints:
    """Return the placements, (K, V), in which one unit goes elsewhere; none if there are many."""
    feasibility = current.problem.feasibility
    units, targets = np.nonzero(feasibility.allowed)
    if len(units) * len(devices) > MAX_CELLS:
        return devices[None]
    return np.where(
        feasibility.unit_of == units[:, None], targets[:, None].astype(devices.dtype), devices
    )


def _double_moves(current: Current, devices: Ints) -> Ints:
    """Return the placements, (K, V), in which two units go elsewhere; none if there are many."""
    feasibility = current.problem.feasibility
    units, targets = np.nonzero(feasibility.allowed)
    if len(units) ** 2 * len(devices) > 2 * MAX_CELLS:
        return devices[None]
    first, second = np.nonzero(units[:, None] < units)
    moved = np.where(feasibility.unit_of == units[first, None], targets[first, None], devices)
    rows = np.where(feasibility.unit_of == units[second, None], targets[second, None], moved)
    return rows.astype(devices.dtype)
