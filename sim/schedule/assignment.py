"""Linear assignment: different columns for all rows at the least total cost."""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import bare, inner, kernel

Bools = NDArray[np.bool_]
FEW = 8  # columns up to which all assignments are tried, so that ties go to the first of them
NOTHING = -1


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
