"""Removal of moves that gain nothing, and single moves that gain something."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from sim import work_clock
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.current import Current
from streamplace.placers.search.nearby import Nearby
from streamplace.util.arrays import Floats, Ints

MAX_PAIRS = 2_000  # pairs of units that are moved back together
MIN_TRIES = 50  # groups of units that are tried even if the budget is spent
MAX_CELLS = 4_000_000  # operators x placements scored at a time


def polished(search: Nearby, row: Ints, worth: Callable[[Ints], Floats], budget: Budget) -> Ints:
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
    rules = current.problem.feasibility
    row = _with_many_returned(search, row, worth, budget)
    value, moves = float(worth(row[None])[0]), int(current.moves(row[None])[0])
    neighbours = (_returns, _whole_devices, _single_moves, _double_moves)
    k = 0
    while k < len(neighbours) and budget.left() > 0:
        rows, begun = neighbours[k](current, row), work_clock.now()
        values, counts = worth(rows), current.moves(rows)
        budget.charge(len(rows), work_clock.now() - begun)
        better = (values > value + gain) | ((values >= value - gain) & (counts < moves))
        order = [i for i in np.lexsort((counts, -values)).tolist() if better[i]]
        chosen = next((i for i in order if rules.violation(rows[i]) is None), None)
        if chosen is None:
            k += 1
            continue
        row, moves, k = rows[chosen], int(counts[chosen]), 0
        value = max(value, float(values[chosen]))  # many small losses do not add up
    return row


def best_with_fewest_moves(search: Nearby, rows: Ints, worths: Floats) -> Ints:
    """Return the placement, (V,), that is worth the most; among equals, the one of fewest moves."""
    equal = np.flatnonzero(worths >= worths.max() - search.gain)
    counts = search.current.moves(rows[equal])
    best: Ints = rows[equal[np.lexsort((-worths[equal], counts))[0]]]
    return best


def _with_many_returned(
    search: Nearby, row: Ints, worth: Callable[[Ints], Floats], budget: Budget
) -> Ints:
    """Return a placement, (V,), after groups of units have gone back where this loses nothing.

    All units that moved are tried together, then halves of them, and so on down to single ones.
    When the budget is spent, a minimum of groups is still tried.
    """
    current, rules = search.current, search.current.problem.feasibility
    value, tries = float(worth(row[None])[0]), 0
    homes = _homes(current, row)
    size = len(homes)
    while size:
        for first in range(0, len(homes), size):
            if tries >= MIN_TRIES and budget.left() == 0:
                return row
            tries, begun = tries + 1, work_clock.now()
            target = np.full(rules.unit_count, -1, dtype=row.dtype)
            units, devices = zip(*homes[first : first + size], strict=True)
            target[list(units)] = devices
            back = target[rules.unit_of]
            returned = np.where(back >= 0, back, row)
            reached = float(worth(returned[None])[0])
            if reached >= value - search.gain and rules.violation(returned) is None:
                row, value = returned, max(value, reached)
            budget.charge(1, work_clock.now() - begun)
        homes = _homes(current, row)
        size = min(size // 2, len(homes))
    return row


def _homes(current: Current, row: Ints) -> list[tuple[int, int]]:
    """Return each unit of which an operator has moved, with that operator's current device."""
    moved = np.flatnonzero(current.left(row[None])[0])
    unit_of = current.problem.feasibility.unit_of
    return sorted({(int(unit_of[v]), int(current.devices[v])) for v in moved})


def _returns(current: Current, row: Ints) -> Ints:
    """Return a placement and those in which one or two units go back to where they were, (K, V).

    If many units have moved, only the placement itself is returned.
    """
    unit_of, homes = current.problem.feasibility.unit_of, _homes(current, row)
    if len(homes) ** 2 > 2 * min(MAX_CELLS // len(row), MAX_PAIRS):
        return row[None]
    rows = [row]
    for back in [*((home,) for home in homes), *combinations(homes, 2)]:
        returned = row.copy()
        for unit, device in back:
            returned[unit_of == unit] = device
        rows.append(returned)
    return np.stack(rows)


def _whole_devices(current: Current, row: Ints) -> Ints:
    """Return the placements, (K, V), in which a device takes over or exchanges another's units."""
    devices = np.unique(row)
    if len(devices) * len(current.problem.cluster.devices) * len(row) > MAX_CELLS:
        return row[None]
    rows = [row]
    for a in devices:
        for b in range(len(current.problem.cluster.devices)):
            rows.append(np.where(row == a, b, row).astype(row.dtype))
            rows.append(np.where(row == b, a, rows[-1]).astype(row.dtype))
    return np.stack(rows)


def _single_moves(current: Current, row: Ints) -> Ints:
    """Return the placements, (K, V), in which one unit goes elsewhere; none if there are many."""
    rules = current.problem.feasibility
    units, targets = np.nonzero(rules.allowed)
    if len(units) * len(row) > MAX_CELLS:
        return row[None]
    return np.where(rules.unit_of == units[:, None], targets[:, None].astype(row.dtype), row)


def _double_moves(current: Current, row: Ints) -> Ints:
    """Return the placements, (K, V), in which two units go elsewhere; none if there are many."""
    rules = current.problem.feasibility
    units, targets = np.nonzero(rules.allowed)
    if len(units) ** 2 * len(row) > 2 * MAX_CELLS:
        return row[None]
    first, second = np.nonzero(units[:, None] < units)
    moved = np.where(rules.unit_of == units[first, None], targets[first, None], row)
    rows = np.where(rules.unit_of == units[second, None], targets[second, None], moved)
    return rows.astype(row.dtype)
