"""The best and the worst order, chosen by the other graphs."""

import numpy as np

from streamplace.papers.orders.study.results import extremes
from streamplace.util.effect import Effect


def test_the_best_and_the_worst_order_are_chosen_by_the_other_graphs() -> None:
    values = np.array([[1.0, 5.0, 3.0], [2.0, 1.0, 9.0], [4.0, 8.0, 1.0]])
    low, high = extremes(values)
    assert low.tolist() == [1.0, 9.0, 4.0]  # sums of the others: 6 9 10, 5 13 4 and 3 6 12
    assert high.tolist() == [3.0, 1.0, 1.0]


def test_orders_that_are_alike_do_not_differ() -> None:
    """The highest and the lowest mean of the same graphs would differ with 95% confidence."""
    values = np.random.default_rng(0).normal(size=(200, 12))
    low, high = extremes(values)
    means = values.mean(axis=0)
    assert Effect.of(values[:, means.argmax()] - values[:, means.argmin()]).low > 0.0
    assert Effect.of(high - low).low < 0.0
