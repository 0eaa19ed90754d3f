"""The lower bound on prices is a sum of prices."""

from itertools import product

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import streamplace as sp
from streamplace.capacity.subset.conditions import Conditions, Kinds
from streamplace.capacity.subset.price_bound import price_bound

DEVICE = st.tuples(st.integers(1, 30), st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5, 7.0, 11.0]))


def bound(devices: list[tuple[int, float]], need: float) -> float:
    """Return the bound for devices of some speeds and prices, whose speeds must reach a need."""
    graph = sp.StreamGraph([sp.Operator("a", 1e3, 0.0)], source_rate=1.0)
    cluster = sp.Cluster([sp.Device(f"d{i}", 100.0 * v) for i, (v, _) in enumerate(devices)])
    kinds = Kinds(sp.Problem(graph, cluster), np.array([price for _, price in devices]))
    speeds = np.array([float(devices[members[0]][0]) for members in kinds.members])
    conditions = Conditions(np.minimum(speeds / need, 1.0)[None], kinds.kept)
    return price_bound(conditions, kinds, 0, np.inf).price


@settings(max_examples=60, deadline=None)
@example(devices=[(1, 0.0), (30, 0.0), (26, 0.1)], share=1.0)  # multipliers grow without end
@given(devices=st.lists(DEVICE, min_size=1, max_size=8), share=st.floats(0.05, 1.0))
def test_the_bound_is_a_sum_of_prices_and_not_above_the_cheapest_set(
    devices: list[tuple[int, float]], share: float
) -> None:
    need = share * sum(speed for speed, _ in devices)
    chosen = list(product((False, True), repeat=len(devices)))
    each = [[one for one, taken in zip(devices, which, strict=True) if taken] for which in chosen]
    prices = [sum(price for _, price in few) for few in each]
    enough = [sum(speed for speed, _ in few) >= need * (1 - 1e-9) for few in each]
    cheapest = min(price for price, carries in zip(prices, enough, strict=True) if carries)
    found = bound(devices, need)
    assert found <= cheapest + 1e-9
    assert min(abs(found - price) for price in prices) < 1e-9


def test_a_multiple_of_the_step_that_is_no_sum_is_rounded_up() -> None:
    """The greatest common divisor alone would give 7 and 12: one device, and a part of another."""
    assert bound([(6, 6.0), (6, 6.0), (5, 5.0)], 6.5) == 11.0
    assert bound([(6, 6.0)] * 3, 6.5) == 12.0


def test_prices_with_too_many_sums_are_rounded_up_to_steps() -> None:
    found = bound([(6, 1e6), (5, 1e6 + 1)], 6.5)
    assert 1e6 + 1 < found <= 2e6 + 1
