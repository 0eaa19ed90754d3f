"""Passes on machines that can run the testbed, and the command elsewhere."""

import signal
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.testbed import facilities, leftovers, ownership
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.interruptions import PASS, SIGNALS, host_links, interrupt
from benchmarks.testbed.passes.executors import KINDS, PACKETS, Executors
from benchmarks.testbed.passes.measuring import Meter, measure
from benchmarks.testbed.passes.overheads import calibrate, on_the_wire
from benchmarks.testbed.passes.scaling import scale_pass
from streamplace.problem.network import NetworkKind
from tests.support.passes import small_problem
from tests.support.testbed import check_reported_or_skipped, without_programs

MODULE = "benchmarks.testbed.passes"
SPREAD = np.array([0, 1, 2, 0, 1, 2], np.int32)
SHORT_S = 0.01
lacking = facilities.lacking()
needs_a_machine = pytest.mark.skipif(bool(lacking), reason=f"testbed: {', '.join(lacking)}")


@pytest.mark.long
@needs_a_machine
@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_follows_the_rules(kind: NetworkKind) -> None:
    """Whatever else the machine does, nothing is faster than its cost, and nothing out of order."""
    problem = small_problem(kind)
    scaled = scale_pass(problem, SHORT_S)
    job = scaled.job(SPREAD)
    with swept():
        with Executors(kind, scaled.shares, scaled.mbps) as executors:
            times = executors.run(job)
            overheads = calibrate(executors)
        assert leftovers.everything().get(ownership.own_prefix(), []) == []
    own = scaled.seconds[range(6), SPREAD]
    assert (times.start >= times.ready).all()
    assert (times.end - times.start >= own * (1 - 1e-6)).all()
    packet = PACKETS.mtu + 14
    for v, w, size in zip(job.source, job.target, on_the_wire(job.size), strict=True):
        passed = max(0, size - PACKETS.burst_bytes - packet) * 8e-6 / scaled.mbps[1]
        fastest = 0.0 if SPREAD[v] == SPREAD[w] else passed + job.latency_s[0, 1]
        assert times.ready[w] >= times.end[v] + 0.9 * fastest
    for d in range(3):
        on_it = [v for v in np.argsort(times.start) if SPREAD[v] == d]
        assert all(times.end[a] <= times.start[b] for a, b in pairwise(on_it))
    assert times.makespan_s == times.end.max()
    assert min(overheads.slowness) > 0.5
    assert overheads.message_s >= 0


@needs_a_machine
def test_placements_are_measured_in_seconds_of_the_problem() -> None:
    """One device runs one operator after the other, so that the makespan is at least their sum."""
    problem = small_problem()
    slow, spread = np.full(6, 2, np.int32), SPREAD
    with swept(), Meter(problem, repeats=1, limit=3, mean_s=SHORT_S) as meter:
        found = meter([slow, spread])
        assert found[0] >= 24.0 * (1 - 1e-6)
        assert found[1] >= 9.0
        assert meter.passes == 2
        with pytest.raises(facilities.TestbedError, match="2 passes are needed, but only 1"):
            meter([slow, spread])
        assert meter(spread[None]).shape == (1,)


@needs_a_machine
def test_a_pass_of_another_number_of_devices_is_refused() -> None:
    problem = small_problem()
    refused = pytest.raises(facilities.TestbedError, match="for 3 devices, but the testbed has 2")
    with swept(), Executors("pair", (0.1, 0.1), (20.0,) * 4) as executors, refused:
        executors.run(scale_pass(problem).job(SPREAD))


def test_networks_without_an_emulation_are_refused() -> None:
    with pytest.raises(facilities.TestbedError, match="networks pair and egress, not nic"):
        Executors("nic", (0.1,), (20.0, 20.0))
    with pytest.raises(facilities.TestbedError, match="its network is nic"):
        measure(small_problem("nic"), [SPREAD])


@pytest.mark.long
@needs_a_machine
def test_an_interrupted_pass_leaves_nothing() -> None:
    assert interrupt(signal.SIGTERM, 0.8, host_links(), PASS) == []


@needs_a_machine
@pytest.mark.long
def test_twenty_interrupted_runs_leave_nothing() -> None:
    rng, links = np.random.default_rng(3), host_links()
    left = [
        interrupt(SIGNALS[i % len(SIGNALS)], float(rng.uniform(0.0, 3.0)), links, PASS)
        for i in range(20)
    ]
    assert left == [[]] * 20


@pytest.mark.long
def test_a_machine_without_programs_is_reported_or_skipped() -> None:
    check_reported_or_skipped(MODULE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--graphs", "0"), "must be at least 1 (got 0)"),
        (("--placements", "1"), "must be at least 2 (got 1)"),  # one placement has no rank
        (("--repeats", "two"), "must be a whole number (got 'two')"),
    ],
)
def test_wrong_numbers_are_refused(words: tuple[str, str], message: str) -> None:
    refused = without_programs(MODULE, "campaign", *words)
    assert refused.returncode == 2
    assert message in refused.stderr
