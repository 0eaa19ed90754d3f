"""Bipartite matching of sets that are to be on different devices or groups."""

import numpy as np

from streamplace.util.arrays import Bools


def can_all_differ(allowed: Bools) -> bool:
    """Return whether every row can be matched to its own True column (bipartite matching)."""
    if len(allowed) > allowed.shape[1]:
        return False
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for row in range(len(allowed)):
        reached_from: dict[int, int] = {}
        column = _free_column(allowed, row, row_of, reached_from)
        if column is None:
            return False
        while True:  # each row on the augmenting path passes its column to the previous row
            giver = reached_from[column]
            row_of[column] = giver
            if giver == row:
                break
            column, column_of[giver] = column_of[giver], column
        column_of[row] = column
    return True


def _free_column(
    allowed: Bools, row: int, row_of: dict[int, int], reached_from: dict[int, int]
) -> int | None:
    """Return a free column that an augmenting path from a row reaches; None if there is none."""
    rows = [row]
    while rows:
        current = rows.pop()
        for column in np.flatnonzero(allowed[current]).tolist():
            if column not in reached_from:
                reached_from[column] = current
                if column not in row_of:
                    return int(column)
                rows.append(row_of[column])
    return None
