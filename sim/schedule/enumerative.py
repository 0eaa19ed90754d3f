"""Group-wise assignment: the EnumerativeOptimizer that DOPPLER compares itself with (2025).

The operators of a group, such as the shards of one original operator, go to different devices at
the least total time of the messages to them. Groups follow one another from sources to sinks.
"""

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.rules import NOWHERE, Placed, Rules, may_run, nothing_placed, put
from streamplace.sim.schedule.lists import inputs_of
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, message_seconds

Bools = NDArray[np.bool_]
FEW = 8  # columns up to which all assignments are tried, so that ties go to the first of them
NOTHING = -1  # no column


@kernel
def cheapest_assignment(costs: Floats) -> Ints:
    """Return the column of each row, (N,) int32, at the least total cost; -1 if there is none.

    With up to 8 columns, it is the first of the cheapest assignments in lexicographic order.

    Parameters
    ----------
    costs
        (N, C) costs, infinite where a column is not allowed; N is at most C.
    """
    if costs.shape[1] <= FEW:
        return _first_of_all(costs)
    return _by_shortest_paths(costs)


@inner
def _first_of_all(costs: Floats) -> Ints:
    """Try all assignments, depth first; costs that are too high already are cut off."""
    rows, columns = costs.shape
    best = np.full(rows, np.int32(NOTHING))
    least = np.inf
    chosen = np.full(rows, np.int32(NOTHING))
    total = np.zeros(rows + 1)
    is_used = np.zeros(columns, np.bool_)
    row = 0
    while row >= 0:
        if row == rows:
            least = total[row]
            best[:] = chosen
            row -= 1
            continue
        if chosen[row] != NOTHING:
            is_used[chosen[row]] = False
        column = chosen[row] + 1
        while column < columns and (is_used[column] or total[row] + costs[row, column] >= least):
            column += 1
        if column == columns:
            chosen[row] = NOTHING
            row -= 1
            continue
        chosen[row] = column
        is_used[column] = True
        total[row + 1] = total[row] + costs[row, column]
        row += 1
    return best


@inner
def _by_shortest_paths(costs: Floats) -> Ints:
    """Assign one row after the other along shortest augmenting paths (Kuhn 1955, Munkres 1957)."""
    rows, columns = costs.shape
    forbidden = _more_than_all(costs)
    row_price, column_price = np.zeros(rows), np.zeros(columns + 1)
    row_of = np.full(columns + 1, np.int32(NOTHING))  # the last column is the root of each path
    least = np.empty(columns)
    before = np.empty(columns, np.int32)
    done = np.empty(columns + 1, np.bool_)
    for row in range(rows):
        column = columns
        row_of[column] = row
        least[:] = np.inf
        done[:] = False
        while row_of[column] != NOTHING:
            done[column] = True
            i = int(row_of[column])
            step, nearest = _extended(
                costs[i], forbidden, row_price[i], column_price, column, done, least, before
            )
            for j in range(columns + 1):
                if done[j]:
                    row_price[row_of[j]] += step
                    column_price[j] -= step
                elif j < columns:
                    least[j] -= step
            column = nearest
        while column != columns:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    found = np.full(rows, np.int32(NOTHING))
    for j in range(columns):
        if row_of[j] != NOTHING:
            found[row_of[j]] = j
    for i in range(rows):
        if not np.isfinite(costs[i, found[i]]):
            found[:] = NOTHING
            break
    return found


@bare
def _more_than_all(costs: Floats) -> float:
    """Return a finite cost that is more than any assignment of allowed columns."""
    largest = 0.0
    for i in range(costs.shape[0]):
        for j in range(costs.shape[1]):
            if np.isfinite(costs[i, j]):
                largest = max(largest, costs[i, j])
    return float(4.0 * (costs.shape[0] + 1.0) * (largest + 1.0))


@bare
def _extended(
    costs: Floats,
    forbidden: float,
    row_price: float,
    column_price: Floats,
    column: int,
    done: Bools,
    least: Floats,
    before: Ints,
) -> tuple[float, int]:
    """Extend paths by a row that is reached by a column; return the nearest column's distance."""
    step, nearest = np.inf, -1
    for j in range(costs.shape[0]):
        if not done[j]:
            cost = costs[j] if np.isfinite(costs[j]) else forbidden
            reduced = cost - row_price - column_price[j]
            if reduced < least[j]:
                least[j], before[j] = reduced, column
            if least[j] < step:
                step, nearest = least[j], j
    return step, nearest


def enumerative_placement(tasks: TaskGraph, rules: Rules, first: Ints, member: Ints) -> Ints:
    """Return the device of each operator, (V,) int32; -1 where the rules leave none.

    Parameters
    ----------
    first, member
        (G + 1,) int32 index of each group's first operator, and operators by group, (V,) int32. A
        group has at most D operators, all of different units, and follows those of its inputs.
    """
    placed = nothing_placed(rules)
    return _enumerative_placement(tasks.columns, rules, first, member, placed)


@kernel
def _enumerative_placement(
    tasks: Columns, rules: Rules, first: Ints, member: Ints, placed: Placed
) -> Ints:
    devices = np.full(tasks.work.shape[0], np.int32(NOWHERE))
    first_in, inputs = inputs_of(tasks)
    for g in range(first.shape[0] - 1):
        waiting = 0  # operators whose unit has no device yet
        costs = np.empty((first[g + 1] - first[g], tasks.speed.shape[0]))
        listed = np.empty(first[g + 1] - first[g], np.int32)
        for v in member[first[g] : first[g + 1]]:
            if placed.device[rules.unit_of[v]] != NOWHERE:
                devices[v] = placed.device[rules.unit_of[v]]
                continue
            streams = inputs[first_in[v] : first_in[v + 1]]
            _set_costs(tasks, rules, placed, devices, streams, v, costs[waiting])
            listed[waiting] = v
            waiting += 1
        chosen = cheapest_assignment(costs[:waiting])
        for i in range(waiting):
            v = listed[i]
            d = chosen[i]
            if d == NOWHERE:  # without enough different devices, each takes its cheapest one
                streams = inputs[first_in[v] : first_in[v + 1]]
                _set_costs(tasks, rules, placed, devices, streams, v, costs[i])
                d = np.int32(costs[i].argmin())
                if costs[i, d] == np.inf:
                    continue
            put(rules, placed, rules.unit_of[v], d)
            devices[v] = d
    return devices


@bare
def _set_costs(
    tasks: Columns, rules: Rules, placed: Placed, devices: Ints, streams: Ints, v: int, row: Floats
) -> None:
    """Set the total time of the messages to an operator on each device, in seconds."""
    for d in range(row.shape[0]):
        row[d] = np.inf
        if may_run(rules, placed, rules.unit_of[v], d):
            row[d] = 0.0
            for e in streams:
                a = devices[tasks.source[e]]
                if a not in (d, NOWHERE) and not tasks.silent[e]:
                    row[d] += message_seconds(tasks, tasks.bits[e], a, d)
