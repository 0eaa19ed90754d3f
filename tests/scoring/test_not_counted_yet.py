"""Fields of graphs and clusters that throughput models refuse, since they do not count them yet."""

import pytest

from streamplace import Cluster, Device, Network, Operator, Placement, Problem, StreamGraph
from streamplace.errors import ClusterError, GraphError
from streamplace.scoring.throughput import simulate
from tests.support.graphs import chain_graph

ROWS = [Operator("a", 1e6, 10.0)]
TIMED = [Operator("a", 1e6, 10.0, seconds_on={"gpu": 1.0})]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (StreamGraph(ROWS, source_rate=1.0, firing="all"), "^firing: 'all' is not counted"),
        (StreamGraph(ROWS, source_rate=1.0, multicast="all"), "^multicast: 'all' is not"),
        (StreamGraph(ROWS, source_rate=1.0, multicast="device"), "^multicast: 'device' is not"),
        (StreamGraph(TIMED, source_rate=1.0), r"^operators\[0\].seconds_on: of 'a' is not"),
    ],
)
def test_graphs_are_refused(graph: StreamGraph, message: str) -> None:
    with pytest.raises(GraphError, match=f"{message}.*yet"):
        simulate(Placement(Problem(graph, "2x2500"), [0]))


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (Cluster.equal(2, network=Network("free")), "^network: kind 'free' is not counted"),
        (Cluster.equal(2, network=Network("egress")), "^network: kind 'egress' is not counted"),
        (
            Cluster.equal(2, network=Network(overhead_s_per_byte=1e-9)),
            r"^device 'd0': overhead_s_per_byte \(1e-09\) is not",
        ),
        (
            Cluster([Device("a", 1.0), Device("b", 1.0, overhead_s_per_byte=1.0)]),
            r"^device 'b': overhead_s_per_byte \(1\) is not",
        ),
    ],
)
def test_clusters_are_refused(cluster: Cluster, message: str) -> None:
    with pytest.raises(ClusterError, match=f"{message}.*yet"):
        simulate(Placement(Problem(chain_graph(1.0), cluster), [0]))


def test_fields_that_change_no_throughput_are_counted() -> None:
    """Rests after operators count in makespans only; an overhead of 0 per byte costs nothing."""
    plain, rests = Device("a", 1000.0), Device("a", 1000.0, kind="gpu", startup_s=1.0)
    free = Network(overhead_s_per_byte=1e-9)
    without = Device("a", 1000.0, overhead_s_per_byte=0.0)
    scores = [
        simulate(Placement(Problem(chain_graph(2e6), Cluster([device], network)), [0])).throughput
        for device, network in ((plain, None), (rests, None), (without, free))
    ]
    assert scores == [500.0] * 3
