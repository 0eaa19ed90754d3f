"""The load at which LogP's o is calibrated, and the use of what was measured."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from benchmarks.testbed.calibration import DEVICES, LOADS, Calibration, pairs, samples_of
from benchmarks.testbed.costs import Costs
from benchmarks.testbed.measures import Moment, measured
from benchmarks.testbed.scaling import Machine, Scaled
from streamplace import Cluster, Device, Network, Placement, Problem, simulate

SHARE = 0.2
ON_TURNS = np.arange(2 * DEVICES) % DEVICES
RECORDED = Calibration(
    SHARE,
    0.996,
    3.9e6,
    (Costs(7e-3, 15e-6, 2e-10), Costs(8e-3, 18e-6, 4e-10), Costs(6e-3, 2e-5, 0.0)),
)


def scaled(rate: float, payload: int) -> Scaled:
    """Return the problem that is calibrated at a load."""
    devices = [Device(f"d{d}", 1e3 * SHARE) for d in range(DEVICES)]
    problem = Problem(
        pairs(SHARE, rate, payload), Cluster(devices, Network("nic", bandwidth_mbps=None))
    )
    shares, unlimited = (SHARE,) * DEVICES, (np.inf,) * (2 * DEVICES)
    return Scaled(problem, shares, unlimited, (payload,) * DEVICES)


@pytest.mark.parametrize(("rate", "payload"), LOADS)
def test_all_devices_are_busy_and_send_and_receive(rate: float, payload: int) -> None:
    """No end of a stream has idle time, because a message that wakes its receiver costs more."""
    score = simulate(Placement(scaled(rate, payload).problem, ON_TURNS))
    assert [device.utilisation for device in score.devices] == pytest.approx([1.5] * DEVICES)
    graph = scaled(rate, payload).problem.graph
    ends = ON_TURNS[graph.stream_source], ON_TURNS[graph.stream_target]
    assert [sorted(end) for end in ends] == [list(range(DEVICES))] * 2
    assert not np.any(ends[0] == ends[1])
    assert score.throughput / DEVICES == pytest.approx(rate)


def test_loads_differ_in_rate_and_size() -> None:
    assert np.linalg.matrix_rank([[1.0, rate, rate * payload] for rate, payload in LOADS]) == 3


def test_a_sample_counts_messages_of_both_directions() -> None:
    """Each device used 0.2 s of CPU per second: 0.18 s for operators, and the rest for messages."""
    tuples = [[0, 0], [180, 90]]  # of a source and a sink, in two seconds
    clocks = [[0, 0, 0, 0], [400_000_000, 360_000_000, 1, 1]]
    samples = [[float(2 * i), tuples[i], *clocks[i]] for i in (0, 1)]
    answers = [{"samples": samples, "operators": [[0, 0], [0, 0]]}] * DEVICES
    moments = [Moment(at, [at * SHARE] * DEVICES, [0] * (2 * DEVICES)) for at in (0.0, 2.0)]
    placed = [[d, d + DEVICES] for d in range(DEVICES)]
    found = measured(scaled(100, 1000), placed, answers, (0.0, 2.0), moments)
    assert found.network_s == pytest.approx([0.02] * DEVICES)
    assert found.processed_s == pytest.approx([90.0] * DEVICES + [45.0] * DEVICES)
    for one in samples_of(found, 1000):
        assert astuple(one) == pytest.approx((0.02, 135.0, 135e3))


def test_o_is_the_median_and_fixed_costs_reduce_capacity() -> None:
    before = Machine(mbps=33.0)
    machine = RECORDED.applied_to(before)
    assert (machine.o_s, machine.o_s_byte) == (18e-6, 2e-10)
    assert machine.delivered == pytest.approx(0.996 - 7e-3 / SHARE)
    assert replace(machine, o_s=0.0, o_s_byte=0.0, delivered=1.0) == before


def test_o_is_printed_with_its_spread() -> None:
    line = str(RECORDED)
    assert "LogP's o is 18.0 us of CPU (IQR 16.5 to 19.0)" in line
    assert "0.20 ns per byte (IQR 0.10 to 0.30)" in line
    assert "the network uses 3.5% (IQR 3.2% to 3.8%) at any rate" in line
