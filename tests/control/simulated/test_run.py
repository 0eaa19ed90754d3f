"""Simulated jobs: queues, packing, traces and runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.control.simulated.job import work_off
from benchmarks.control.simulated.planner import SimplePlanner, counts_for, packed
from benchmarks.control.simulated.run import (
    GAP_S,
    RECOVERY_S,
    JobState,
    advance,
    moved,
    restarted,
)
from benchmarks.control.simulated.trace import KINDS, Disturbance, rates
from benchmarks.reference.plain_queue import plain_queue
from streamplace.control.plans import Deployment, Plan
from streamplace.scoring.throughput import throughput
from tests.support.simulated import CHAIN, SMALL, constant, window_of


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


TUPLES = st.integers(0, 1000).map(float)


@given(TUPLES, st.lists(st.tuples(TUPLES, TUPLES), min_size=1, max_size=40))
def test_every_step_is_that_of_the_loop(waiting: float, rows: list[tuple[float, float]]) -> None:
    offered, capacity = (np.array(column) for column in zip(*rows, strict=True))
    after, served = work_off(waiting, offered, capacity)
    expected = plain_queue(waiting, offered.tolist(), capacity.tolist())
    assert after == pytest.approx(expected[0])
    assert served == pytest.approx(expected[1])
    assert waiting + offered.sum() == pytest.approx(served.sum() + after[-1])


HOSTS = st.lists(st.sampled_from(["d0", "d1", "d2", "d3"]), min_size=1, max_size=4)


def test_capacity_by_hand() -> None:
    """Parse and store use a core each at 1,000 tuples/s; d0 has two cores for 1.2."""
    loads = CHAIN.loads(SMALL)
    assert loads.own == pytest.approx([0.0002, 0.001, 0.001])
    assert loads.on_device == pytest.approx([0.0006, 0.0005, 0.0, 0.0])
    assert loads.capacity_s == pytest.approx(1000.0)
    assert CHAIN.loads(SMALL, {"d1": 0.5}).capacity_s == pytest.approx(500.0)


@given(HOSTS, HOSTS, HOSTS)
def test_capacity_is_that_of_the_closed_form(
    read: list[str], parse: list[str], store: list[str]
) -> None:
    deployment = Deployment({"read": tuple(read), "parse": tuple(parse), "store": tuple(store)})
    placed = CHAIN.problem(deployment, 100_000.0)
    found = throughput(placed.problem, placed.devices[None])[0]
    assert CHAIN.loads(deployment).capacity_s == pytest.approx(found, rel=1e-9)


def test_instances_divide_the_tuples() -> None:
    twice = Deployment({"read": ("d0",), "parse": ("d0", "d1"), "store": ("d2", "d3")})
    assert np.allclose(CHAIN.loads(twice).own, [0.0002, 0.0005, 0.0005, 0.0005, 0.0005])


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
