"""Enumeration of the placements that may be shorter than the best one so far.

Units are placed one after the other, depth first. A partial placement is cut off if a longest path
or the work of a device shows that no completion is shorter, under any order and network. Of unused
devices that are alike, only the first is tried.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.rules import NOWHERE, Placed, Rules, next_device, nothing_placed, put
from streamplace.sim.schedule.bounds import prices_of, times_on
from streamplace.sim.schedule.ranks import waits
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, message_seconds, seconds_on

CLOSE = 1e-12  # relative difference from the limit that counts as reaching it: rounding of sums


class Tree(NamedTuple):
    """An enumeration: fixed data of the problem, and the partial placement that it has reached."""

    unit: Ints  # (U,) units in the order in which they are placed
    alike: Ints  # (D,) the device before each one that can be exchanged with it, or -1
    first_member: Ints  # (U + 1,) index of each unit's first operator
    member: Ints  # (V,) operators by unit, upstream operators first
    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams by target
    before: Floats  # (V, D) shortest time before the start of an operator, in seconds
    after: Floats  # (V, D) shortest time after its end
    prices: Floats  # (D,) prices of devices, which sum to 1; see `work_bound`
    least: Floats  # (V,) smallest cost of each operator at these prices, in seconds
    choice: Ints  # (U,) the device that is tried next at each depth
    devices: Ints  # (V,) device of each operator, or -1
    placed: Placed
    start: Floats  # (V,) earliest start of each operator that is placed, in seconds
    listed: Ints  # (D, V) operators on each device, by the time after them, the longest first
    number: Ints  # (D,) their number
    left: Floats  # (U, R) amounts that were left on the device of each depth before
    work: Floats  # (U + 1,) cost of all operators at each depth, in seconds
    depth: Ints  # (1,) number of units that are placed; -1 when all is done


def enumeration(tasks: TaskGraph, rules: Rules, alike: Ints) -> Tree:
    """Return an enumeration from its beginning.

    Parameters
    ----------
    alike
        (D,) the device before each one that can be exchanged with it, or -1.
    """
    operators, devices, units = tasks.operators, tasks.devices, len(rules.row_of)
    allowed, row_of = np.ascontiguousarray(rules.allowed), rules.row_of[rules.unit_of]
    before = waits(tasks.columns, allowed, row_of, False)
    after = waits(tasks.columns, allowed, row_of, True)
    times = times_on(tasks.columns, allowed, row_of)
    used = np.minimum(tasks.cores[:, None], tasks.device_cores)
    shares = times * used / tasks.device_cores
    prices = prices_of(shares, np.ones(operators, np.bool_))
    runs = np.isfinite(shares)  # a price may be 0
    least = np.where(runs, np.where(runs, shares, 0.0) * prices, np.inf).min(axis=1)
    upstream_first = np.lexsort((tasks.level, -(times + after).min(axis=1)))
    position = np.empty(operators, np.int64)
    position[upstream_first] = np.arange(operators)
    first = np.full(units, operators)
    np.minimum.at(first, rules.unit_of, position)
    member = np.lexsort((position, rules.unit_of))
    numbers = np.arange(units + 1)
    ints = np.int32
    work = np.zeros(units + 1)
    work[0] = least.sum()
    return Tree(
        unit=np.argsort(first, kind="stable").astype(ints),
        alike=alike.astype(ints),
        first_member=np.searchsorted(rules.unit_of[member], numbers).astype(ints),
        member=member.astype(ints),
        first_in=np.append(0, np.cumsum(tasks.inputs)).astype(ints),
        inputs=np.argsort(tasks.target, kind="stable").astype(ints),
        before=before,
        after=after,
        prices=prices,
        least=least,
        choice=np.zeros(units, ints),
        devices=np.full(operators, NOWHERE, ints),
        placed=nothing_placed(rules),
        start=np.zeros(operators),
        listed=np.zeros((devices, operators), ints),
        number=np.zeros(devices, ints),
        left=np.empty((units, rules.needs.shape[1])),
        work=work,
        depth=np.zeros(1, ints),
    )


def next_placements(
    tasks: TaskGraph, rules: Rules, tree: Tree, limit: float, rows: Ints, steps: int
) -> tuple[int, bool]:
    """Write the next placements that may be shorter than a limit.

    Parameters
    ----------
    limit
        Makespan in seconds.
    rows
        (K, V) int32, receives up to K placements.
    steps
        Number of partial placements to examine at most.

    Returns
    -------
    tuple
        The number of placements written, and whether the enumeration is complete.
    """
    written, done = _next_placements(tasks.columns, rules, tree, limit, rows, steps)
    return int(written), bool(done)


@kernel
def _next_placements(
    tasks: Columns, rules: Rules, tree: Tree, limit: float, rows: Ints, steps: int
) -> tuple[int, bool]:
    written, units = 0, tree.unit.shape[0]
    depth = tree.depth[0]
    while depth >= 0 and written < rows.shape[0] and steps > 0:
        u = tree.unit[depth]
        if tree.placed.device[u] != NOWHERE:  # the search came back to this unit
            _remove(rules, tree, depth)
        d = next_device(rules, tree.placed, tree.alike, tree.number, u, tree.choice[depth])
        if d == NOWHERE:
            depth -= 1
            continue
        steps -= 1
        tree.choice[depth] = d + 1
        if not _add(tasks, rules, tree, depth, d, limit):
            continue
        if depth + 1 < units:
            depth += 1
            tree.choice[depth] = 0
        else:
            rows[written] = tree.devices
            written += 1
    tree.depth[0] = depth
    return written, depth < 0


@bare
def _add(tasks: Columns, rules: Rules, tree: Tree, depth: int, d: int, limit: float) -> bool:
    """Place the unit of a depth; return whether a completion may be shorter than the limit."""
    u = tree.unit[depth]
    for r in range(rules.needs.shape[1]):
        tree.left[depth, r] = tree.placed.left[d, r]
    put(rules, tree.placed, u, d)
    beyond = limit * (1.0 - CLOSE)
    work, shortest = tree.work[depth], 0.0
    for i in range(tree.first_member[u], tree.first_member[u + 1]):
        v = tree.member[i]
        seconds = seconds_on(tasks, v, d)
        start = tree.before[v, d]
        for j in range(tree.first_in[v], tree.first_in[v + 1]):
            e = tree.inputs[j]
            a = tree.devices[tasks.source[e]]
            if a != NOWHERE:
                moment = tree.start[tasks.source[e]] + seconds_on(tasks, tasks.source[e], a)
                if a != d and not tasks.silent[e]:
                    moment += message_seconds(tasks, tasks.bits[e], a, d)
                start = max(start, moment)
        tree.devices[v] = d
        tree.start[v] = start
        shortest = max(shortest, start + seconds + tree.after[v, d])
        work += _share(tasks, v, d) * tree.prices[d] - tree.least[v]
        k = tree.number[d]
        while k > 0 and tree.after[tree.listed[d, k - 1], d] < tree.after[v, d]:
            tree.listed[d, k] = tree.listed[d, k - 1]
            k -= 1
        tree.listed[d, k] = v
        tree.number[d] += 1
    tree.work[depth + 1] = work
    # Both are at hand already; the work between heads and tails has to be computed.
    if max(work, shortest) >= beyond:
        return False
    return _work_on(tasks, tree, d) < beyond


@bare
def _remove(rules: Rules, tree: Tree, depth: int) -> None:
    """Take the unit of a depth away again."""
    u = tree.unit[depth]
    d = tree.placed.device[u]
    tree.placed.device[u] = NOWHERE
    for r in range(rules.needs.shape[1]):
        tree.placed.left[d, r] = tree.left[depth, r]
    for i in range(tree.first_member[u], tree.first_member[u + 1]):
        tree.devices[tree.member[i]] = NOWHERE
    kept = 0
    for k in range(tree.number[d]):
        v = tree.listed[d, k]
        if tree.devices[v] != NOWHERE:
            tree.listed[d, kept] = v
            kept += 1
    tree.number[d] = kept


@bare
def _share(tasks: Columns, v: int, d: int) -> float:
    """Return the work of an operator in seconds of the whole device."""
    cores = tasks.device_cores[d]
    return float(seconds_on(tasks, v, d) * min(tasks.cores[v], cores) / cores)


@bare
def _work_on(tasks: Columns, tree: Tree, d: int) -> float:
    """Return the largest head + work in between + tail of the operators on a device, in seconds.

    Cores rest after every operator except the last.
    """
    best = 0.0
    rest, cores = tasks.startup_s[d], tasks.device_cores[d]
    for i in range(tree.number[d]):
        head = tree.start[tree.listed[d, i]]
        total = head - rest
        for k in range(tree.number[d]):
            v = tree.listed[d, k]
            if tree.start[v] >= head:
                seconds = seconds_on(tasks, v, d)
                if seconds > 0.0:
                    total += (seconds + rest) * min(tasks.cores[v], cores) / cores
                best = max(best, total + tree.after[v, d])
    return best
