"""Pictures of runs of the engine."""

import streamplace as sp
from streamplace.pictures.engine_run import _queues_of_streams
from streamplace.ticks import runs as engine


def test_parallel_streams_have_separate_lines() -> None:
    graph = sp.StreamGraph(
        [("a", 1e4, 10), ("b", 1e4, 10)],
        [("a", "b", 1.0), ("a", "b", 0.5)],
        source_rate=10,
    )
    placement = sp.Placement(sp.Problem(graph), [0, 1])
    found = engine.run(placement, every_s=1.0)
    assert list(_queues_of_streams(placement, found)) == ["a → b", "a → b (2)"]
