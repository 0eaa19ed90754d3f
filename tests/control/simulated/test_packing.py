"""Counts, deployments and plans of simulated jobs."""

import pytest

from streamplace.control.plans import Plan
from streamplace.control.simulated.packing import counts_for, packed
from streamplace.control.simulated.planner import SimplePlanner
from streamplace.control.simulated.run import JobState
from streamplace.control.simulated.trace import Disturbance
from tests.support.simulated import CHAIN, SMALL, constant, window_of


def test_counts_are_the_smallest() -> None:
    assert counts_for(CHAIN, 1000.0) == {"read": 1, "parse": 1, "store": 1}
    assert counts_for(CHAIN, 1001.0) == {"read": 1, "parse": 2, "store": 2}
    assert counts_for(CHAIN, 1e9)["parse"] == 32


@pytest.mark.parametrize(("rate_s", "devices"), [(100.0, 1), (900.0, 1), (1000.0, 2), (3000.0, 4)])
def test_few_devices_are_used(rate_s: float, devices: int) -> None:
    """A tuple takes 2.2 ms of a core, and a device has two."""
    found = packed(CHAIN, counts_for(CHAIN, rate_s), rate_s, CHAIN.cores)
    assert len(found.devices) == devices
    assert CHAIN.loads(found).capacity_s >= rate_s


def test_all_devices_are_used_where_none_suffice() -> None:
    found = packed(CHAIN, counts_for(CHAIN, 9000.0), 9000.0, ["d1", "d2"])
    assert found.devices == {"d1", "d2"}
    with pytest.raises(ValueError, match="at least one"):
        packed(CHAIN, SMALL.parallelism, 1.0, [])


def test_a_plan_is_for_the_rate_at_the_target() -> None:
    plan = SimplePlanner(CHAIN, 0.7)(window_of(constant(800.0)), 1400.0)
    assert isinstance(plan, Plan)
    assert plan.carries_s >= 2000.0 * 0.9
    assert plan.now_carries_s == pytest.approx(1000.0, rel=0.1)
    assert plan.now_price_s == 2.0
    assert plan.price_s == len(plan.deployment.devices)


def test_a_plan_removes_at_most_a_share() -> None:
    wide = packed(CHAIN, {"read": 4, "parse": 8, "store": 8}, 3000.0, CHAIN.cores)
    now = window_of(constant(100.0), JobState(0, wide))
    for most, counts in (
        (0.5, {"read": 2, "parse": 4, "store": 4}),
        (1.0, dict.fromkeys(wide.hosts, 1)),
    ):
        plan = SimplePlanner(CHAIN, 0.7, most)(now, 100.0)
        assert isinstance(plan, Plan)
        assert plan.deployment.parallelism == counts


def test_lost_devices_are_not_used() -> None:
    lost = [Disturbance(f"d{i}", 0, 360, 0.0) for i in range(3)]
    plan = SimplePlanner(CHAIN, 0.7)(window_of(constant(100.0, 360, *lost)), 100.0)
    assert isinstance(plan, Plan)
    assert plan.deployment.devices == {"d3"}
    every = Disturbance("d3", 0, 360, 0.0)
    found = window_of(constant(100.0, 360, *lost, every))
    assert SimplePlanner(CHAIN, 0.7)(found, 100.0) == "no device is there"
