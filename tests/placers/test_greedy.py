"""Tests for the greedy placer on graphs small enough to follow by hand."""

import pytest

from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from streamplace.placers.registry import make_placer
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng


def test_greedy_puts_each_operator_where_the_bottleneck_stays_lowest() -> None:
    # at 1,000 tuples/s on 1,000 MIPS a takes .6, b .5 and c .3 of a device; streams weigh little
    problem = Problem(chain_graph(6e5, 5e5, 3e5), Cluster.equal(2, mips=1000.0))
    assert make_placer("greedy")(problem, seeded_rng()).devices.tolist() == [0, 1, 1]


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_greedy_accounts_for_links(kind: str) -> None:
    # apart, the stream loads the link to 4; together, the operators load the device to 1.2
    network = Network(kind=kind, bandwidth_mbps=1.0)  # type: ignore[arg-type]
    graph = StreamGraph(
        [Operator("a", 6e5, 500.0), Operator("b", 6e5, 0.0)], [Stream("a", "b")], source_rate=1e3
    )
    problem = Problem(graph, Cluster.equal(2, mips=1000.0, network=network))
    assert make_placer("greedy")(problem, seeded_rng()).devices.tolist() == [0, 0]
