"""Unequal devices, labels, memory and constraints, and the error if constraints conflict."""

import streamplace as sp

cluster = sp.Cluster(
    [
        sp.Device("edge", mips=1000, memory_bytes=1e9),
        sp.Device("gpu", mips=3000, cores=2, memory_bytes=16e9, labels=("gpu",)),
        sp.Device("cpu", mips=3000, cores=4, memory_bytes=64e9),
    ],
    sp.Network(kind="nic", bandwidth_mbps=100),
)
operators = [
    sp.Operator("camera", 10_000, 50_000),
    sp.Operator("detect", 8_000_000, 200, memory_bytes=4e9, requires=("gpu",)),
    sp.Operator("track", 900_000, 100, memory_bytes=2e9),
    sp.Operator("alarm", 50_000, 0),
]
streams = [
    sp.Stream("camera", "detect"),
    sp.Stream("detect", "track"),
    sp.Stream("track", "alarm", selectivity=0.01),
]
graph = sp.StreamGraph(
    operators,
    streams,
    source_rate=200,
    constraints=sp.Constraints(pins={"camera": "edge"}, exlocate=[["detect", "track"]]),
)
result = sp.place(graph, cluster)
for device, names in result.placement.pes.items():
    print(f"{device}: {', '.join(names)}")
print(f"{result.score.throughput:.0f} tuples/s; bottleneck: {result.score.bottleneck.name}")

try:
    sp.place(graph, cluster, constraints=sp.Constraints(pins={"detect": "cpu"}))
except sp.StreamplaceError as error:
    print(f"refused: {error}")
