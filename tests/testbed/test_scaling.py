"""Problems scaled to the machine, and the jobs of devices."""

import numpy as np
import pytest

from benchmarks.testbed.jobs import documents, phases, queues
from benchmarks.testbed.scaling import HEADERS_BYTES, SEGMENT_BYTES, Machine, on_the_wire, scale
from streamplace import (
    Cluster,
    Device,
    LinkOverride,
    Network,
    Operator,
    Placement,
    Problem,
    Recipe,
    Stream,
    StreamGraph,
    simulate,
)
from streamplace.problem.cluster import NetworkKind
from tests.support.graphs import preset_graph

of_every_kind = pytest.mark.parametrize("kind", ["pair", "nic"])


@of_every_kind
@pytest.mark.parametrize("preset", ["dream", "layered", "series-parallel"])
def test_scaling_keeps_utilisations(preset: str, kind: NetworkKind) -> None:
    """Headers of large tuples change utilisations by less than 1%."""
    cluster = Cluster(
        [Device("fast", 4000), Device("slow", 1000), Device("two", 1000, cores=2)],
        Network(kind, bandwidth_mbps=400.0),
    )
    rng = np.random.default_rng(4)
    for number in range(5):
        graph = Recipe(preset, 5, range(8, 27), 3).graph(number)
        problem = Problem(graph, cluster, source_rate=7e3)
        small = scale(problem, Machine(mbps=2000.0))
        devices = rng.integers(0, 3, len(graph.names))
        big, little = (simulate(Placement(one, devices)) for one in (problem, small.problem))
        used = [[device.utilisation for device in score.devices] for score in (big, little)]
        assert used[1] == pytest.approx(used[0], rel=1e-9)
        for one, other in zip(big.links, little.links, strict=True):
            assert one.name == other.name
            assert other.utilisation == pytest.approx(one.utilisation, rel=0.01, abs=1e-3)
        assert little.relative_throughput == pytest.approx(big.relative_throughput, rel=0.01)


def test_a_scaled_problem_fits_the_machine() -> None:
    graph = preset_graph("layered", 26, 3)
    machine = Machine(cores=0.7, most_cores=0.3, tuples_s=1e6, processed_s=500.0)
    cluster = Cluster([Device("a", 3000), Device("b", 1000), Device("c", 1000)])
    small = scale(Problem(graph, cluster, source_rate=1e4), machine)
    assert small.shares == pytest.approx((0.3, 0.1, 0.1))
    many = scale(Problem(graph, Cluster.equal(10), source_rate=1e4), machine)
    assert sum(many.shares) == pytest.approx(0.7)
    tuples = many.problem.source_rate + sum(
        rate * one.selectivity
        for one, rate in zip(graph.streams, _rates(many.problem), strict=True)
    )
    assert tuples == pytest.approx(500.0)


def _rates(problem: Problem) -> list[float]:
    """Return the rate of each stream's source operator."""
    graph = problem.graph
    rate = graph.source_share * problem.source_rate
    found = []
    for a, b, selectivity in zip(
        graph.stream_source, graph.stream_target, graph.selectivity, strict=True
    ):
        found.append(float(rate[a]))
        rate[b] += rate[a] * selectivity
    return found


@of_every_kind
def test_the_overhead_per_tuple_follows_the_cpu_share(kind: NetworkKind) -> None:
    """A device with a quarter of the CPU takes four times as long for a tuple."""
    graph = StreamGraph([Operator("a", 1, 0), Operator("b", 1, 0)], [Stream("a", "b")])
    cluster = Cluster([Device("fast", 4000), Device("slow", 1000)], Network(kind))
    machine = Machine(o_s=1e-4, delivered=0.5)
    o_s = scale(Problem(graph, cluster, source_rate=1.0), machine).problem.cluster.link_column(
        "overhead_s"
    )
    fast, slow = 1e-4 / 0.2 / 0.5, 1e-4 / 0.05 / 0.5
    if kind == "nic":
        assert o_s.tolist() == pytest.approx([fast, slow, fast, slow])
    else:
        assert o_s[[1, 2]].tolist() == pytest.approx([slow, slow])


@of_every_kind
def test_links_that_differ_stay_different(kind: NetworkKind) -> None:
    target = None if kind == "nic" else "d1"
    network = Network(kind, 500.0, overrides=(LinkOverride("d0", target, bandwidth_mbps=250.0),))
    cluster = Cluster.equal(3, network=network)
    graph = StreamGraph([Operator("a", 1, 9)], [])
    small = scale(Problem(graph, cluster, source_rate=1.0), Machine(mbps=20.0))
    link = 0 if kind == "nic" else 1
    bandwidths = small.problem.cluster.link_column("bandwidth_mbps")
    assert small.mbps[link] == bandwidths[link] == 5.0
    assert small.mbps[2] == bandwidths[2] == 10.0


def test_bytes_on_the_wire_include_headers() -> None:
    assert on_the_wire(1) == 1 + HEADERS_BYTES
    assert on_the_wire(SEGMENT_BYTES) == SEGMENT_BYTES + HEADERS_BYTES
    assert on_the_wire(SEGMENT_BYTES + 1) == SEGMENT_BYTES + 1 + 2 * HEADERS_BYTES
    assert on_the_wire(1448, mtu=1500) == 1448 + HEADERS_BYTES
    assert on_the_wire(1449, mtu=1500) == 1449 + 2 * HEADERS_BYTES


@of_every_kind
def test_links_have_the_latency_and_the_smallest_tuples_of_the_machine(kind: NetworkKind) -> None:
    network = Network(kind, latency_s=0.5)
    graph = StreamGraph([Operator("a", 1, 9), Operator("b", 1, 9)], [Stream("a", "b")])
    machine = Machine(latency_s=2e-4, least_bytes=40)
    small = scale(Problem(graph, Cluster.equal(3, network=network), source_rate=1.0), machine)
    links = small.problem.cluster.link_column("latency_s")
    assert set(links[small.problem.cluster.link_column("bandwidth_mbps") < np.inf]) == {2e-4}
    assert small.tuple_bytes == (40,)


def test_only_the_devices_at_its_ends_know_a_stream() -> None:
    graph = preset_graph("layered", 20, 5)
    small = scale(Problem(graph, Cluster.equal(4), source_rate=1e4), Machine())
    devices = np.arange(20) % 4
    wiring, placed = documents(small, devices, 7, 1.0)
    assert sorted(v for own in placed for v in own) == list(range(20))
    for e, (a, b) in enumerate(zip(graph.stream_source, graph.stream_target, strict=True)):
        ends = {int(devices[a]), int(devices[b])}
        knows = {d for d in range(4) if e in [one["number"] for one in wiring[d]["streams"]]}
        assert knows == ends
        sends = [
            d for d in range(4) for s in wiring[d]["streams"] if s["number"] == e and "to" in s
        ]
        assert sends == ([devices[a]] if len(ends) == 2 else [])


def test_streams_of_an_operator_take_turns() -> None:
    assert phases([0.25] * 4) == [0.0, 0.25, 0.5, 0.75]
    assert phases([1.5, 0.5, 1.0]) == [0.0, 0.5, 0.0]


def test_queues_are_in_proportion_to_rates() -> None:
    names = ["a", "b", "c", "d"]
    streams = [Stream("a", "d", 1.0), Stream("b", "d", 0.5), Stream("c", "d", 0.01)]
    graph = StreamGraph([Operator(name, 1, 9) for name in names], streams)
    small = scale(Problem(graph, Cluster.equal(2), source_rate=300.0), Machine())
    assert queues(small, 8) == [8, 4, 2]
