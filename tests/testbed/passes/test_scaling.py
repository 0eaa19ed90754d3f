"""Scaled passes, and what the simulator gets."""

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.token_bucket import arrivals
from benchmarks.testbed import facilities
from benchmarks.testbed.passes.executors import KINDS, PACE, PACKETS
from benchmarks.testbed.passes.overheads import Overheads, on_the_wire
from benchmarks.testbed.passes.problems import predicted
from benchmarks.testbed.passes.scaling import MEAN_S, ScaledPass, scale_pass
from streamplace import Cluster, Device, Makespan, Network, Operator, Problem, Stream, StreamGraph
from streamplace.problem.network import LinkOverride, NetworkKind
from tests.support.passes import small_problem

ROWS = np.array([[0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 0, 0], [2, 1, 0, 1, 0, 1]], np.int32)


@pytest.mark.parametrize("kind", KINDS)
def test_makespans_keep_their_ratios(kind: NetworkKind) -> None:
    """Headers, rounding and bursts change a message by less than 2 ms, and there are three hops."""
    problem = small_problem(kind)
    scaled = scale_pass(problem)
    found = predicted(scaled.problem(Overheads.none(3)), ROWS)
    expected = predicted(problem, ROWS) * scaled.factor
    assert found[1] == pytest.approx(expected[1])
    assert (abs(found - expected) < 3 * 0.002).all()


def test_operators_take_the_mean_time_and_their_cost_is_cpu_time() -> None:
    scaled = scale_pass(small_problem())
    assert scaled.seconds.mean() == pytest.approx(MEAN_S)
    assert scaled.shares[2] == pytest.approx(scaled.shares[0] / 2)
    assert sum(scaled.shares) <= 1.0
    job = scaled.job(ROWS[0])
    speeds = PACE * np.array(scaled.shares)
    assert job.cost_ns / 1e9 / speeds[ROWS[0]] == pytest.approx(scaled.seconds[range(6), ROWS[0]])


def test_overheads_are_part_of_the_simulated_problem() -> None:
    scaled = scale_pass(small_problem())
    plain = predicted(scaled.problem(Overheads.none(3)), ROWS)
    slow = Overheads((1.1,) * 3, (0.001,) * 3, 0.0)
    assert predicted(scaled.problem(slow), ROWS)[1] == pytest.approx(1.1 * plain[1] + 0.006)
    late = replace(slow, slowness=(1.0,) * 3, dispatch_s=(0.0,) * 3, message_s=0.002)
    found = predicted(scaled.problem(late), ROWS)
    assert found[1] == pytest.approx(plain[1])
    assert found[0] > plain[0]


@given(
    st.lists(st.tuples(st.floats(1e-4, 0.01), st.integers(5_000, 60_000)), min_size=1, max_size=8)
)
def test_a_gap_as_long_as_a_burst_is_a_token_bucket(sent: list[tuple[float, int]]) -> None:
    """Operators on one device each send a message to another one, over one channel."""
    works, sizes = zip(*sent, strict=True)
    mbps, count = 20.0, len(sent)
    names = [f"{kind}{i:02}" for kind in "ab" for i in range(count)]
    graph = StreamGraph(
        [Operator(name, 1.0, 0.0) for name in names],
        [Stream(f"a{i:02}", f"b{i:02}") for i in range(count)],
        firing="all",
    )
    cluster = Cluster([Device("d0", 1.0), Device("d1", 1.0)], Network("pair"))
    index = {name: v for v, name in enumerate(graph.names)}
    seconds = np.zeros((2 * count, 2))
    for i, work in enumerate(works):
        seconds[index[f"a{i:02}"]] = work
    scaled = ScaledPass(
        Problem(graph, cluster, objective=Makespan()),
        1.0,
        (0.2, 0.2),
        (mbps,) * 4,
        seconds,
        np.array(sizes, np.int32),
        np.zeros((2, 2)),
    )
    devices = np.array([name[0] == "b" for name in graph.names], np.int32)
    found = float(predicted(scaled.problem(Overheads.none(2)), devices[None])[0])
    wire = on_the_wire(scaled.size).tolist()
    passed = arrivals(list(accumulate(works)), wire, mbps * 1e6 / 8, PACKETS.burst_bytes)
    assert found == pytest.approx(passed[-1])


def changed(problem: Problem, **fields: object) -> Problem:
    """Return a problem with other fields of its devices."""
    devices = [replace(each, **fields) for each in problem.cluster.devices]  # type: ignore[arg-type]
    return problem.with_cluster(Cluster(devices, problem.cluster.network))


def with_link(kind: NetworkKind, link: LinkOverride) -> Problem:
    problem = small_problem(kind)
    network = replace(problem.cluster.network, overrides=(link,))
    return problem.with_cluster(Cluster(problem.cluster.devices, network))


def with_selectivity(selectivity: float) -> Problem:
    problem = small_problem()
    selectivities = np.full(len(problem.graph.stream_source), selectivity)
    graph = problem.graph.with_numbers(selectivity=selectivities, firing="each")
    return Problem(graph[0], problem.cluster, objective=Makespan())


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (small_problem("nic"), "its network is nic, not pair or egress"),
        (small_problem("free"), "its network is free, not pair or egress"),
        (small_problem().with_objective(Makespan(order="b-level")), "its order is b-level"),
        (small_problem().with_objective(Makespan(barrier=True)), "barrier"),
        (small_problem().with_objective(Makespan(noise=0.1)), "noise"),
        (small_problem().with_objective(Makespan(inputs_everywhere=True)), "everywhere"),
        (small_problem(gap_s=0.1), "gaps"),
        (small_problem(overhead_s=0.1), "CPU time"),
        (changed(small_problem(), cores=2), "several cores"),
        (changed(small_problem(), startup_s=0.1), "rests"),
        (with_link("egress", LinkOverride("d0", "d1", 4.0)), "different bandwidths"),
        (with_selectivity(0.0), "a stream brings no message"),
        (small_problem(latency_s=1e6), r"would take 9.38e\+03 s where"),
        (Problem(small_problem().graph, small_problem().cluster, source_rate=1.0), "objective"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_testbed_does_not_have_is_refused(problem: Problem, reason: str) -> None:
    with pytest.raises(facilities.TestbedError, match=reason):
        scale_pass(problem)


def test_an_operator_on_a_device_that_cannot_run_it_is_refused() -> None:
    operator = Operator("a", 1e6, 0.0, seconds_on={"gpu": None})
    cluster = Cluster([Device("cpu", 1.0), Device("gpu", 1.0, kind="gpu")])
    problem = Problem(StreamGraph([operator], firing="all"), cluster, objective=Makespan())
    with pytest.raises(facilities.TestbedError, match="operator 'a' cannot run on device 'gpu'"):
        scale_pass(problem).job(np.array([1], np.int32))
