"""Single tuples on machines that can run the testbed, and the command elsewhere."""

import signal
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.testbed import facilities, leftovers, ownership
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.interruptions import TUPLES, host_links, interrupt
from benchmarks.testbed.latency.devices import TupleDevices, TupleLatencies
from benchmarks.testbed.latency.simulated import QUANTITIES, simulated
from tests.support.testbed import check_reported_or_skipped
from tests.support.tuple_latencies import SERVICE_S, two_paths

lacking = facilities.lacking()
needs_a_machine = pytest.mark.skipif(bool(lacking), reason=f"testbed: {', '.join(lacking)}")


@needs_a_machine
def test_latencies_are_those_of_the_same_tuples() -> None:
    """Whatever else the machine does, tuples of the simulation arrive, and none is early."""
    scaled, devices = two_paths(2, 2.0), np.array([0, 1, 0, 1, 1], np.int32)
    with swept():
        with TupleDevices(scaled.shares, scaled.mbps) as testbed:
            run = testbed.run(scaled, devices, exponential=False, seed=4, warm_s=0.5, seconds=1.0)
            with pytest.raises(facilities.TestbedError, match="scaled for other devices or links"):
                testbed.run(
                    replace(scaled, shares=(0.1, 0.2)),
                    devices,
                    exponential=False,
                    seed=0,
                    warm_s=0.0,
                    seconds=0.1,
                )
        left = leftovers.everything().get(ownership.own_prefix(), [])
    assert left == []
    expected = simulated(scaled.problem, devices, "deterministic", 4, 0.5, 1.0)
    assert len(run.latencies_s) > len(expected) / 2
    assert run.latencies_s.min() >= SERVICE_S * 0.99
    assert not run.overloaded
    assert set(run.values()) == set(QUANTITIES)
    assert run.busy.shape == (2,)
    assert run.late_s.shape == (2, 3)


def test_an_overloaded_run_has_no_finite_values() -> None:
    no_times = np.zeros((1, 3))
    overloaded = TupleLatencies(np.ones(3), True, no_times, np.ones(1))
    assert set(overloaded.values().values()) == {float("inf")}
    with pytest.raises(facilities.TestbedError, match="no tuple reached a sink"):
        TupleLatencies(np.ones(0), False, no_times, np.ones(1)).values()


@pytest.mark.long
@needs_a_machine
def test_an_interrupted_run_leaves_nothing() -> None:
    assert interrupt(signal.SIGTERM, 1.0, host_links(), TUPLES) == []


@pytest.mark.long
def test_a_machine_without_programs_is_reported_or_skipped() -> None:
    check_reported_or_skipped("benchmarks.testbed.latency")
