"""Type aliases for arrays, distinct rows, and the smallest number that keeps all its digits."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
"""The smallest number that keeps all its digits: smaller ones round, and training makes them 0."""


def distinct_rows(rows: Iterable[Ints]) -> Ints:
    """Return the distinct ones of placements, (V,) each, in ascending order, (K, V).

    ``numpy.unique`` gives the same rows, but makes a type with a field per column, which takes
    most of a second for 1e5 of them. Bytes of the largest digit first sort as the indices do.
    """
    by_bytes = {row.astype(">i4").tobytes(): row for row in rows}
    return np.stack([by_bytes[key] for key in sorted(by_bytes)])


def grouped_rows(rows: Bools) -> tuple[Bools, Ints, Ints]:
    """Return the distinct rows of an array, (R, C), the one that each row is, and their numbers."""
    if len(rows) and (rows == rows[0]).all():  # as most are, and sorting takes seconds
        return rows[:1], np.zeros(len(rows), np.int32), np.array([len(rows)], np.int32)
    distinct, row_of, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return distinct, row_of.reshape(-1).astype(np.int32), count.astype(np.int32)
