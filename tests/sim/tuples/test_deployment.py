"""Deployments for single tuples: their utilisations, links and refusals."""

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import random_problem
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.tuples import UnsupportedError, deploy


@pytest.mark.parametrize("seed", range(12))
def test_utilisations_are_those_of_the_closed_form(seed: int) -> None:
    problem = (random_problem if seed % 2 else grouped_problem)(seed)
    placement = np.random.default_rng(seed).integers(
        0, len(problem.cluster.devices), len(problem.graph.names)
    )
    found = deploy(flow(problem), problem.cluster.link_column("latency_s"), placement)
    on_device, on_link = utilisations(flow(problem), placement.astype(np.int32))
    assert found.device_utilisation == pytest.approx(on_device, rel=1e-9, abs=1e-12)
    links = np.zeros(len(on_link))
    links[found.link] = found.link_utilisation
    assert links == pytest.approx(on_link, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kind", "links"), [("pair", 1), ("nic", 2), ("free", 0), ("egress", 1)])
def test_links_of_every_kind_of_network(kind: str, links: int) -> None:
    graph = StreamGraph([Operator("a", 1.0, 1e3), Operator("b", 1.0, 0.0)], [Stream("a", "b")])
    network = Network(kind, bandwidth_mbps=8.0, latency_s=0.5)  # type: ignore[arg-type]
    problem = Problem(graph, Cluster.equal(3, network=network), source_rate=10.0)
    latency_s = problem.cluster.link_column("latency_s")
    found = deploy(flow(problem), latency_s, np.array([0, 2]))
    assert found.latency_s == pytest.approx([0.5])
    assert np.count_nonzero(found.links[0] >= 0) == links
    assert found.link_s[0, :links] == pytest.approx(0.001)
    assert len(deploy(flow(problem), latency_s, np.array([1, 1])).link) == 0


def test_a_message_of_no_size_waits_for_a_link_that_others_use() -> None:
    operators = [Operator("a", 1.0, 1e6), *(Operator(name, 1.0, 0.0) for name in "bcd")]
    streams = [Stream("a", "b", payload_bytes=0.0), Stream("a", "c"), Stream("b", "d")]
    network = Network("nic", bandwidth_mbps=8e3)
    cluster = Cluster.equal(3, network=network)
    problem = Problem(StreamGraph(operators, streams), cluster, source_rate=100.0)
    latency_s = problem.cluster.link_column("latency_s")
    found = deploy(flow(problem), latency_s, np.array([0, 1, 1, 2]))
    ends = [stream.target for stream in problem.graph.streams]
    empty, full, alone = (ends.index(name) for name in "bcd")
    assert found.links[empty].tolist() == found.links[full].tolist()
    assert found.link_s[empty].tolist() == [0.0] * 4
    assert found.links[alone].tolist() == [-1] * 4


def test_overheads_are_part_of_services() -> None:
    graph = StreamGraph(
        [Operator("a", 2.5e6, 1e3), Operator("b", 5e6, 0.0)], [Stream("a", "b", selectivity=3.0)]
    )
    network = Network("pair", overhead_s=0.01)
    problem = Problem(graph, Cluster.equal(2, network=network), source_rate=1.0)
    latency_s = problem.cluster.link_column("latency_s")
    apart = deploy(flow(problem), latency_s, np.array([0, 1]))
    assert apart.service_s == pytest.approx([0.012, 0.031, 0.002])
    together = deploy(flow(problem), latency_s, np.array([0, 0]))
    assert together.service_s == pytest.approx([0.002, 0.001, 0.002])


@pytest.mark.parametrize("field", [{"firing": "all"}, {"multicast": "device"}])
def test_what_is_not_supported_is_refused(field: dict[str, str]) -> None:
    graph = StreamGraph([("a", 1.0, 1.0), ("b", 1.0, 0.0)], [("a", "b")], **field)  # type: ignore[arg-type]
    problem = Problem(graph, Cluster.equal(2), source_rate=1.0)
    with pytest.raises(UnsupportedError, match=f"{next(iter(field))}: single tuples require"):
        deploy(flow(problem), problem.cluster.link_column("latency_s"), np.array([0, 1]))
