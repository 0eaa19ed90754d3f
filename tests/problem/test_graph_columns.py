"""Columns, rows, sources, sinks and hash of a graph, all of them read-only."""

from typing import Any

import numpy as np
import pytest

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph


def two_sources_graph() -> StreamGraph:
    """Return a graph of two sources into one sink, and an operator that is source and sink."""
    rows = [Operator(name, i + 1.0, 10.0 * i, 5.0) for i, name in enumerate("abcd")]
    return StreamGraph(rows, [Stream("a", "c", 2.0), Stream("b", "c", payload_bytes=7.0)])


def test_rows() -> None:
    graph = two_sources_graph()
    assert len(graph.operators) == 4
    assert graph.operators[-1] == Operator("d", 4.0, 30.0, 5.0)
    assert [o.name for o in graph.operators[1:3]] == ["b", "c"]
    assert list(graph.streams) == [Stream("a", "c", 2.0, 0.0), Stream("b", "c", 1.0, 7.0)]
    with pytest.raises(IndexError):
        graph.operators[4]


def test_sources_and_sinks() -> None:
    graph = two_sources_graph()
    assert graph.sources.tolist() == [0, 1, 3]
    assert graph.sinks.tolist() == [2, 3]
    assert graph.source_share == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    shares = {"a": 0.5, "b": 0.5, "d": 0}
    unequal = StreamGraph(graph.operators, graph.streams, source_shares=shares)
    assert unequal.source_share.tolist() == [0.5, 0.5, 0, 0]


@pytest.mark.parametrize(
    "name",
    [
        "instructions",
        "payload_bytes",
        "memory_bytes",
        "source_share",
        "stream_source",
        "stream_target",
        "selectivity",
        "stream_payload_bytes",
        "order",
        "sources",
        "sinks",
    ],
)
def test_columns_cannot_be_written(name: str) -> None:
    column = getattr(two_sources_graph(), name)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 9


def test_columns_are_copies() -> None:
    numbers = np.ones(1)
    graph = StreamGraph.from_columns(["a"], numbers, numbers, [])
    numbers[0] = 5
    assert graph.instructions[0] == graph.payload_bytes[0] == 1


def test_the_hash_changes_with_every_number_and_name() -> None:
    graph = two_sources_graph()
    rows, streams = list(graph.operators), list(graph.streams)
    changed = [
        StreamGraph([Operator("z", 1.0, 0.0, 5.0), *rows[1:3], rows[3]], [streams[1]]),
        StreamGraph([*rows[:3], Operator("d", 4.5, 30.0, 5.0)], streams),
        StreamGraph([*rows[:3], Operator("d", 4.0, 31.0, 5.0)], streams),
        StreamGraph([*rows[:3], Operator("d", 4.0, 30.0, 6.0)], streams),
        StreamGraph([*rows[:3], Operator("d", 4.0, 30.0, 5.0, ("gpu",))], streams),
        StreamGraph(rows, [streams[0], Stream("b", "c", 1.5, 7.0)]),
        StreamGraph(rows, [streams[0], Stream("b", "c", 1.0, 8.0)]),
        StreamGraph(rows, [streams[0], Stream("b", "d", 1.0, 7.0)]),
        StreamGraph(rows, [*streams, streams[1]]),
        StreamGraph(rows, streams, source_shares={"a": 0.5, "b": 0.25, "d": 0.25}),
    ]
    assert len({g.sha256 for g in (graph, *changed)}) == len(changed) + 1
    assert all(g != graph for g in changed)


def test_equality_includes_name_rate_and_constraints() -> None:
    graph = two_sources_graph()
    same: dict[str, Any] = {
        "name": "n",
        "source_rate": 5.0,
        "constraints": Constraints({"a": "d0"}),
    }
    one, other = (StreamGraph(graph.operators, graph.streams, **same) for _ in "12")
    assert one == other
    assert hash(one) == hash(other) == hash(graph)
    assert one.sha256 == graph.sha256
    assert one != graph
    assert graph != "graph"
    assert (
        repr(one)
        == "<StreamGraph 'n': 4 operators, 2 streams, 3 sources, 2 sinks, 5 tuples/s, constraints>"
    )


def test_the_order_of_labels_does_not_matter_to_the_hash() -> None:
    one, other = (
        StreamGraph([Operator("a", 1, 1, requires=labels)], [])
        for labels in (("gpu", "ssd"), ("ssd", "gpu"))
    )
    assert one.sha256 == other.sha256
