"""Traces and kinds of rates."""

import numpy as np
import pytest

from streamplace.control.simulated.trace import KINDS, Disturbance, rates
from tests.support.simulated import constant


@pytest.mark.parametrize("kind", KINDS)
def test_rates_follow_their_seed(kind: str) -> None:
    found = [rates(kind, 1000.0, 2160, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    many = [rates(kind, 1000.0, 2160, np.random.default_rng(seed)) for seed in range(40)]
    assert np.mean(many) == pytest.approx(1000.0, rel=0.25)
    assert np.min(many) > 0.0


def test_disturbances_have_a_beginning_and_an_end() -> None:
    trace = constant(1.0, 100, Disturbance("a", 10, 20, 0.5), Disturbance("a", 15, 30, 0.0))
    assert [dict(trace.speeds(step)) for step in (9, 10, 15, 20, 29, 30)] == [
        {},
        {"a": 0.5},
        {"a": 0.0},
        {"a": 0.0},
        {"a": 0.0},
        {},
    ]
    assert trace.changes(10, 30) == [15, 20]
    assert trace.mean_rate(0, 10) == 1.0
