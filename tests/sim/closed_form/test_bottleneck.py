"""The closed form with backpressure: checked by hand, against the oracle, and with both kernels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reference import oracle
from benchmarks.reference.strategies import Case, batches, cases, clusters, graphs, problems
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.flow import Flow
from tests.support.graphs import MBIT


def two_operator_flow(network: Network) -> Flow:
    """Return a -> b at 1,000 tuples/s of 1 Mbit on two unequal devices."""
    graph = StreamGraph([Operator("a", 1e6, MBIT), Operator("b", 2e6, 0)], [Stream("a", "b")])
    cluster = Cluster([Device("slow", 1000), Device("fast", 1000, cores=4)], network)
    return flow_of(Problem(graph, cluster, source_rate=1000))


def worst_by_general_kernel(flow: Flow, placements: NDArray[np.int32]) -> NDArray[np.float64]:
    worst = np.empty(len(placements))
    bottleneck._worst_general(placements, flow.columns, worst)
    return worst


@pytest.mark.parametrize(
    ("placement", "expected"),
    [([0, 0], 3.0), ([1, 1], 2.0), ([0, 1], 2.0), ([1, 0], 4.0)],
)
def test_by_hand(placement: list[int], expected: float) -> None:
    """Apart, the slow device is at 1.0 or 2.0; on the fast one, b fills its core twice."""
    other_way = LinkOverride("fast", "slow", bandwidth_mbps=250)
    flow = two_operator_flow(Network(bandwidth_mbps=500, overrides=(other_way,)))
    assert bottleneck.worst_utilisation(flow, np.array(placement)) == pytest.approx([expected])
    throughput = bottleneck.throughput(flow, np.array([placement] * 5))
    assert throughput == pytest.approx([1000 / max(1, expected)] * 5)


def test_overhead_and_gap_by_hand() -> None:
    """1,000 tuples/s of 0.2 ms use .2 of a core at each end; a gap of 1 ms fills the link."""
    flow = two_operator_flow(Network(bandwidth_mbps=500, overhead_s=2e-4, gap_s=1e-3))
    device, link = bottleneck.utilisations(flow, np.array([0, 1]))
    assert device == pytest.approx([1.0 + 0.2, 0.5 + 0.2 / 4])
    assert link == pytest.approx([0, 2.0 + 1.0, 0, 0])


def test_one_interface_feeds_two_receivers_by_hand() -> None:
    """Two streams of .75 leave one device: no pair is full, but its NIC is (T4 of the paper)."""
    graph = StreamGraph(
        [Operator("s", 0, 0.75 * MBIT), Operator("x", 0, 0), Operator("y", 0, 0)],
        [Stream("s", "x"), Stream("s", "y")],
    )
    placement = np.array([0, 1, 2])
    for network, expected in ((Network("pair"), 1000.0), (Network("nic"), 1000 / 1.5)):
        problem = Problem(graph, Cluster.equal(3, network=network), source_rate=1000)
        assert bottleneck.throughput(flow_of(problem), placement) == pytest.approx([expected])


@given(cases(shared=True))
def test_utilisations_agree_with_the_oracle(case: Case) -> None:
    problem, devices = case
    on_device, on_link = oracle.utilisations(problem, devices)
    device, link = bottleneck.utilisations(flow_of(problem), np.array(devices))
    expected = [float(on_device[name]) for name in problem.cluster.names]
    np.testing.assert_allclose(device, expected, rtol=1e-12)
    ends = {i: problem.cluster.resource_ends(i) for i in np.flatnonzero(link).tolist()}
    found = {f"{a or ''}->{b or ''}": float(link[i]) for i, (a, b) in ends.items()}
    exact = {name: float(share) for name, share in on_link.items() if share}
    assert found == pytest.approx(exact, rel=1e-12)


@given(st.data(), problems(shared=True))
def test_throughput_agrees_with_the_oracle(data: st.DataObject, problem: Problem) -> None:
    placements = data.draw(batches(problem))
    expected = [float(oracle.bottleneck(problem, row.tolist())) for row in placements]
    got = bottleneck.throughput(flow_of(problem), placements)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@st.composite
def quick_problems(draw: st.DrawFn) -> Problem:
    """Draw problems for the fast kernel: pair links, with gaps only if all links are equal."""
    cluster = draw(clusters("pair"))
    network = replace(cluster.network, overhead_s=0.0, gap_s=0.0)
    if draw(st.booleans()):
        network = replace(network, overrides=(), gap_s=1e-5)
    else:
        alike = [replace(o, overhead_s=None, gap_s=None) for o in network.overrides]
        network = replace(network, overrides=tuple(alike))
    return Problem(draw(graphs()), Cluster(cluster.devices, network), source_rate=1000)


@given(st.data(), quick_problems())
def test_the_fast_kernel_agrees_with_the_general_one(data: st.DataObject, problem: Problem) -> None:
    flow = flow_of(problem)
    assert flow.pair_weights is not None
    placements = data.draw(batches(problem, min_size=bottleneck.LANES))
    fast = bottleneck.worst_utilisation(flow, placements)
    np.testing.assert_allclose(fast, worst_by_general_kernel(flow, placements), rtol=1e-12)
    exact = [oracle.bottleneck(problem, row.tolist()) for row in placements]
    expected = np.array([float(problem.source_rate / x) for x in exact])
    np.testing.assert_allclose(np.maximum(fast, 1.0), expected, rtol=1e-12)


@pytest.mark.parametrize("rows", [3, 4, 5, 6, 7, 219])
@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "i8", "u8", ">i4"])
def test_any_number_of_rows_of_any_integer_type(rows: int, kind: str) -> None:
    """Placements are scored four at a time; the last step may repeat some."""
    rng = np.random.default_rng(rows)
    operators = 300
    ends = [(int(rng.integers(j)), j) for j in range(1, operators)]
    names = [f"o{v}" for v in range(operators)]
    work, payload = rng.uniform(1e4, 1e6, (2, operators))
    graph = StreamGraph.from_columns(names, work, payload, ends)
    flow = flow_of(Problem(graph, source_rate=1000))
    placements = rng.integers(5, size=(rows, operators), dtype=np.int32)
    expected = worst_by_general_kernel(flow, placements)
    got = bottleneck.worst_utilisation(flow, placements.astype(kind))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    parts = [bottleneck.worst_utilisation(flow, part) for part in np.split(placements, [rows // 2])]
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12)


@given(cases(), st.data())
def test_more_capacity_never_lowers_throughput(case: Case, data: st.DataObject) -> None:
    problem, devices = case
    cluster = problem.cluster
    which = data.draw(st.integers(0, len(cluster.devices) - 1))
    faster = list(cluster.devices)
    faster[which] = replace(faster[which], mips=faster[which].mips * 1.5)
    network = cluster.network
    if network.bandwidth_mbps is not None:
        network = replace(network, bandwidth_mbps=network.bandwidth_mbps * 2)
    before = bottleneck.throughput(flow_of(problem), np.array(devices))
    for better in (Cluster(faster, cluster.network), Cluster(cluster.devices, network)):
        richer = flow_of(Problem(problem.graph, better, source_rate=problem.source_rate))
        assert bottleneck.throughput(richer, np.array(devices)) >= before * (1 - 1e-12)


@pytest.mark.parametrize("rows", [1, 4, 7], ids=["general", "fast", "fast, last step"])
@pytest.mark.parametrize("device", [-1, 2, 2**31 - 1, -(2**31)])
def test_unknown_devices(rows: int, device: int) -> None:
    placements = np.zeros((rows, 2), np.int32)
    placements[-1, 1] = device
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        bottleneck.throughput(two_operator_flow(Network()), placements)


def test_no_placements() -> None:
    flow = two_operator_flow(Network())
    assert bottleneck.throughput(flow, np.empty((0, 2), np.int32)).shape == (0,)


def test_utilisations_require_a_single_placement() -> None:
    """Further placements would otherwise be ignored silently."""
    for rows in ([[0, 0], [1, 1]], np.empty((0, 2), np.int32)):
        with pytest.raises(ValueError, match="placement must have shape"):
            bottleneck.utilisations(two_operator_flow(Network()), np.array(rows))
