"""Runs of simulated jobs: restarts, lost devices and slow devices."""

import numpy as np
import pytest

from streamplace.control.plans import Deployment
from streamplace.control.simulated.run import (
    GAP_S,
    RECOVERY_S,
    JobState,
    advance,
    moved,
    restarted,
)
from streamplace.control.simulated.trace import Disturbance
from tests.support.simulated import CHAIN, SMALL, constant


def served(rate_s: float, steps: int, *disturbances: Disturbance) -> tuple[float, JobState]:
    """Return the tuples served in the first steps, and the state then."""
    state, segments = advance(
        CHAIN, constant(rate_s, 360, *disturbances), JobState(0, SMALL), steps
    )
    return sum(float(each.served.sum()) for each in segments), state


def test_what_exceeds_the_capacity_waits() -> None:
    assert served(800.0, 30)[0] == pytest.approx(800.0 * 300)
    tuples, state = served(1200.0, 30)
    assert tuples == pytest.approx(1000.0 * 300)
    assert state.waiting == pytest.approx(200.0 * 300)


def test_windows_do_not_matter() -> None:
    trace = constant(900.0, 360, Disturbance("d1", 17, 90, 0.0), Disturbance("d0", 45, 60, 0.5))
    whole = advance(CHAIN, trace, JobState(0, SMALL), 120)[0]
    state = JobState(0, SMALL)
    for end in (10, 17, 18, 44, 61, 120):
        state = advance(CHAIN, trace, state, end)[0]
    assert state.waiting == pytest.approx(whole.waiting)
    assert (state.deployment, state.down) == (whole.deployment, whole.down)


def test_a_slow_device_slows_the_job() -> None:
    tuples, state = served(800.0, 30, Disturbance("d1", 0, 10, 0.5))
    assert state.waiting == pytest.approx(0.0)  # 100 s of 300 tuples/s too many, then 200 s of 200
    assert tuples == pytest.approx(800.0 * 300 - state.waiting)
    assert served(800.0, 10, Disturbance("d1", 0, 10, 0.5))[1].waiting == pytest.approx(30_000.0)


def test_a_lost_device_moves_its_instances() -> None:
    tuples, state = served(500.0, 30, Disturbance("d1", 10, 360, 0.0))
    assert "d1" not in state.deployment.devices
    assert state.deployment.parallelism == SMALL.parallelism
    assert state.started_s == pytest.approx(100.0 + RECOVERY_S)
    assert tuples == pytest.approx(500.0 * 300)  # what waited for 5.3 s is worked off
    assert moved(CHAIN, SMALL, {"d0", "d1", "d2", "d3"}) == SMALL
    lost = [Disturbance(f"d{i}", 10, 20, 0.0) for i in range(4)]
    assert served(500.0, 20, *lost)[0] == pytest.approx(500.0 * 100)


def test_a_restart_costs_its_downtime() -> None:
    large = Deployment({"read": ("d0",), "parse": ("d0", "d2"), "store": ("d1", "d3")})
    for seed in range(20):
        state, _ = advance(CHAIN, constant(900.0), JobState(0, SMALL), 30)
        state, downtime_s = restarted(state, large, np.random.default_rng(seed), GAP_S)
        assert GAP_S[0] <= downtime_s <= GAP_S[1]
        assert 300.0 + 3.7 <= state.started_s <= 300.0 + 4.5
        after, (segment,) = advance(CHAIN, constant(900.0), state, 31)
        carried = CHAIN.loads(large).capacity_s * (10.0 - downtime_s)
        assert segment.capacity == pytest.approx([carried])
        assert after.waiting == pytest.approx(max(0.0, 9000.0 - carried))
