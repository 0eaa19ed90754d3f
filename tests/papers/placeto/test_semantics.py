"""Messages as Placeto sends them."""

import streamplace as sp
from streamplace.problem.makespan import with_published_semantics


def test_what_the_system_says_about_messages() -> None:
    graph = sp.StreamGraph([("a", 1e6, 1e3), ("b", 1e6, 0.0)], [("a", "b")])
    plain = sp.Cluster.equal(2, network=sp.Network("nic", latency_s=2e-3))
    graph, cluster = with_published_semantics(graph, plain, "placeto")
    network = cluster.network
    assert (network.kind, network.gap_s, network.latency_s) == ("egress", 25e-6, 0.0)
    assert [device.startup_s for device in cluster.devices] == [5.7e-6] * 2
    assert graph.multicast == "all"
