"""A small job placed on three devices, and its bottleneck."""

import streamplace as sp

graph = sp.StreamGraph(
    operators=[
        sp.Operator("clicks", instructions=20_000, payload_bytes=4_000),
        sp.Operator("parse", instructions=90_000, payload_bytes=2_500),
        sp.Operator("sessions", instructions=110_000, payload_bytes=6_000),
        sp.Operator("store", instructions=60_000, payload_bytes=0),
    ],
    streams=[
        sp.Stream("clicks", "parse"),
        sp.Stream("parse", "sessions", selectivity=0.8),
        sp.Stream("sessions", "store", selectivity=0.5),
    ],
)
result = sp.place(graph, sp.Cluster.equal(3, mips=2500), source_rate=20_000, placer="auto")
print(result.placement.assignment)
print(f"{result.score.relative_throughput:.0%} of the source rate, gap {result.gap:.0%}")
print(result.score.bottleneck)
