"""A family of graphs that join several sources pair by pair into one stream."""

import numpy as np

from streamplace import Operator, Stream, StreamGraph


def funnel(operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
    """Return a funnel, in which about half of the operators are sources."""
    sources = (operators + 1) // 2
    parts = [
        Operator(f"op{v}", float(rng.uniform(5e4, 5e5)), float(rng.uniform(100.0, 2000.0)))
        for v in range(operators)
    ]
    open_ends = list(range(sources))
    streams: list[Stream] = []
    for v in range(sources, operators):
        joined, open_ends = open_ends[:2], [*open_ends[2:], v]
        streams += [Stream(f"op{u}", f"op{v}", float(rng.uniform(0.3, 1.0))) for u in joined]
    return StreamGraph(parts, streams, name=name, source_rate=1e4)
