"""Observations of simulated jobs."""

from dataclasses import replace

import numpy as np
import pytest

from streamplace.control.plans import Deployment
from streamplace.control.simulated.measuring import with_measured_costs
from streamplace.control.simulated.run import JobState
from streamplace.control.simulated.trace import Disturbance
from tests.support.simulated import CHAIN, SMALL, constant, window_of


def test_a_window_below_the_capacity() -> None:
    found = window_of(constant(800.0))
    assert found.offered_s == pytest.approx(800.0, rel=0.1)
    assert found.waiting == 0.0
    assert (found.at_s, found.seconds) == (300.0, 300.0)
    assert found.readings["parse"].busy == pytest.approx(0.8, rel=0.1)
    assert found.readings["store"].tuples_s == pytest.approx(400.0, rel=0.1)
    assert found.readings["read"].backpressured == 0.0
    assert found.missing == ()
    assert found.parallelism == SMALL.parallelism


def test_a_window_above_the_capacity() -> None:
    """Store is the last of the two that are the limit, so the source waits for parse."""
    found = window_of(constant(1300.0))
    assert found.readings["parse"].busiest == pytest.approx(1.0, abs=0.1)
    assert found.readings["read"].backpressured == pytest.approx(0.8, abs=0.05)
    assert found.offered_s == pytest.approx(1300.0, rel=0.1)
    assert found.waiting == pytest.approx(300.0 * 300.0)


def test_backpressure_hides_rates() -> None:
    hidden = window_of(constant(1300.0, hides=True))
    assert (hidden.offered_s, hidden.waiting) == (None, None)
    assert hidden.missing == ("the offered rate: backpressure hides it",)
    assert window_of(constant(800.0, hides=True)).offered_s == pytest.approx(800.0, rel=0.1)


def test_lost_devices_are_missing() -> None:
    found = window_of(constant(500.0, 360, Disturbance("d1", 10, 360, 0.0)))
    assert found.devices == {"d0", "d2", "d3"}
    assert found.started_s == pytest.approx(105.3)


@pytest.mark.parametrize("rate_s", [300.0, 900.0, 5000.0])
def test_costs_are_measured(rate_s: float) -> None:
    """The means over many windows are the costs, also while devices have too few cores."""
    crowded = Deployment({"read": ("d0",), "parse": ("d0", "d0"), "store": ("d0", "d0")})
    for deployment in (SMALL, crowded):
        found = [
            with_measured_costs(
                CHAIN, window_of(constant(rate_s), JobState(0, deployment), seed=seed)
            )
            for seed in range(40)
        ]
        for v, operator in enumerate(CHAIN.operators):
            mean = np.mean([job.operators[v].core_s for job in found])
            assert mean == pytest.approx(operator.core_s, rel=0.05)


def test_costs_without_measurements_are_those_of_the_job() -> None:
    found = replace(window_of(constant(800.0)), readings={})
    assert with_measured_costs(CHAIN, found) == CHAIN
