"""Tests for the distributions behind Figures 5 and 6."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamplace.plots.comparison import cumulative, shares_of_devices


def test_a_distribution_by_hand() -> None:
    x, share = cumulative(np.array([0.5, 0.2, 0.5, 1.0]))
    assert x.tolist() == [0.2, 0.5, 1.0]
    assert share.tolist() == [0.25, 0.75, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_distribution_counts_values_at_most_as_large(values: list[float]) -> None:
    x, share = cumulative(np.array(values))
    assert np.all(np.diff(x) > 0)
    for at, y in zip(x, share, strict=True):
        assert y == sum(value <= at for value in values) / len(values)


def test_devices_by_hand() -> None:
    used = np.array([[1, 2, 2, 5], [3, 3, 3, 3]], dtype=np.float64)
    expected = [[0.25, 0.5, 0, 0, 0.25], [0, 0, 1, 0, 0]]
    assert shares_of_devices(used).tolist() == expected
