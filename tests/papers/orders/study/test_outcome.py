"""Tests for the intervals of published guidelines."""

from dataclasses import replace

import numpy as np

from streamplace.papers.orders.study.outcome import guidelines
from streamplace.papers.orders.study.registered import ALL_ORDERS
from streamplace.papers.orders.study.results import PLACETO, RANDOM_POLICY, Results

GRAPHS = 8


def test_a_graph_on_two_numbers_of_devices_counts_once() -> None:
    """The same graphs with the same makespans on more devices tell nothing new."""
    drawn = np.random.default_rng(0).uniform(1.0, 2.0, (GRAPHS, len(ALL_ORDERS), 2, 1))
    few = Results("nmt", 3, (10,), {PLACETO: drawn, RANDOM_POLICY: drawn}, np.full(GRAPHS, 50.0))
    many = replace(few, devices=8)
    alone, both = (list(guidelines(results)) for results in ([few], [few, many]))
    assert [each.effect for each in both] == [each.effect for each in alone]
    assert any(each.effect is not None for each in both)
