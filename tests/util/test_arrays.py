"""Helpers for arrays."""

import numpy as np

from streamplace.util.arrays import distinct_rows


def test_distinct_rows_are_those_of_numpy_in_its_order() -> None:
    rng = np.random.default_rng(0)
    for high in (2, 300, 70_000):  # indices of one, two and three bytes
        rows = rng.integers(0, high, (40, 2), dtype=np.int32)
        rows[20:] = rows[:20]
        found = distinct_rows(rows)
        assert found.dtype == rows.dtype
        assert np.array_equal(found, np.unique(rows, axis=0))
