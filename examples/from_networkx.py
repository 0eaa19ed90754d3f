"""A comparison of placers on a networkx graph, and the default placer's placement as CSV."""

import networkx as nx

import streamplace as sp
from streamplace.files.placements import as_csv

shape = nx.DiGraph([("in", "a"), ("in", "b"), ("a", "join"), ("b", "join"), ("join", "out")])
costs = {"in": 1e5, "a": 6e5, "b": 5e5, "join": 4e5, "out": 1e5}
nx.set_node_attributes(shape, costs, "instructions")
nx.set_node_attributes(shape, dict.fromkeys(shape, 20_000.0), "payload_bytes")
nx.set_edge_attributes(shape, {("in", "a"): 0.5, ("in", "b"): 0.5}, "selectivity")

graph = sp.from_networkx(shape)
for placer in ("single", "round-robin", "greedy", "metis-oracle", "fuser-oracle"):
    result = sp.place(graph, sp.Cluster.equal(3), source_rate=5_000, placer=placer)
    print(f"{placer:12} {result.score.relative_throughput:.3f}")
print(as_csv(sp.place(graph, sp.Cluster.equal(3), source_rate=5_000).placement), end="")
