"""Messages as DOPPLER sends them."""

import streamplace as sp
from streamplace.problem.makespan import with_published_semantics


def test_what_the_system_says_about_messages() -> None:
    graph = sp.StreamGraph([("a", 1e6, 1e3), ("b", 1e6, 0.0)], [("a", "b")])
    plain = sp.Cluster.equal(2, network=sp.Network("nic", latency_s=2e-3))
    graph, cluster = with_published_semantics(graph, plain, "doppler")
    assert (cluster.network.kind, cluster.network.latency_s) == ("free", 0.0)
    assert graph.multicast == "none"
