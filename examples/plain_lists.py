"""A placement, a score and a plan for a graph made of plain lists."""

import streamplace as sp

operators = [  # name, instructions per tuple, bytes per tuple, bytes of memory
    ("clicks", 20_000, 4_000),
    ("parse", 90_000, 2_500),
    ("sessions", 110_000, 6_000),
    ("store", 60_000, 0, 2e9),
]
streams = [("clicks", "parse"), ("parse", "sessions", 0.8), ("sessions", "store", 0.5)]
graph = sp.StreamGraph(operators, streams, name="shop", source_rate=20_000)
print(graph)

result = sp.place(graph, "3x2500", placer="greedy")
print(result.placement)
print(result.score)
print(sp.simulate(result, source_rate=30_000).bottleneck)
print(sp.simulate(graph, dict.fromkeys(graph.names, "d0"), "3x2500"))
print(sp.plan(graph, "3x2500", evaluations=1000))
