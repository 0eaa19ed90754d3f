"""Unknown numbers: every format of a graph keeps them, and placing refuses them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import from_networkx, to_networkx
from streamplace.errors import ProblemError
from streamplace.files import read_graph, write_dataset
from streamplace.files.graphs import graph_from, graph_to
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem

NUMBER = st.sampled_from([UNKNOWN, 0.0, 1.0, 250.0])


@st.composite
def half_known(draw: st.DrawFn) -> StreamGraph:
    """Return a graph with unknown numbers; streams may have only a payload."""
    count = draw(st.integers(1, 5))
    operators = [Operator(f"op{v}", draw(NUMBER), draw(NUMBER)) for v in range(count)]
    payload = st.sampled_from([None, 0.0, 8.0, 250.0])
    streams = [
        Stream(f"op{draw(st.integers(0, v - 1))}", f"op{v}", draw(NUMBER), draw(payload))
        for v in range(1, count)
        for _ in range(draw(st.integers(0, 2)))
    ]
    return StreamGraph(operators, streams, name="half", source_rate=10.0)


@given(half_known())
def test_unknown_numbers_survive_json(graph: StreamGraph) -> None:
    text = json.dumps(graph_to(graph), allow_nan=False)
    assert graph_from(json.loads(text), "text") == graph


@given(half_known())
def test_unknown_numbers_survive_networkx(graph: StreamGraph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


@pytest.mark.parametrize("name", ["graph.json", "graph.npz", "graph.jsonl"])
def test_unknown_numbers_survive_files(name: str, tmp_path: Path) -> None:
    rows = [Operator("a", UNKNOWN, UNKNOWN), Operator("b", 1.0, 5.0), Operator("c", 1.0, UNKNOWN)]
    streams = [
        Stream("a", "b", UNKNOWN),
        Stream("b", "c", UNKNOWN, 7.0),
        Stream("a", "c", 1.0, 3.0),
    ]
    graph = StreamGraph(rows, streams, name="half")
    write_dataset(tmp_path / name, [graph])
    assert read_graph(tmp_path / name) == graph


def test_required_numbers() -> None:
    """Payloads of sinks, and of operators whose streams all have payloads, are not required."""
    rows = [
        Operator("a", UNKNOWN, UNKNOWN),
        Operator("b", 1.0, UNKNOWN),
        Operator("c", 1.0, UNKNOWN),
    ]
    streams = [Stream("a", "b", UNKNOWN), Stream("b", "c", 1.0, 7.0)]
    graph = StreamGraph(rows, streams, source_rate=1.0)
    assert graph.lacking == [
        "instructions of 'a'",
        "payload_bytes of 'a'",
        "selectivity of 'a->b'",
    ]
    with pytest.raises(
        ProblemError,
        match=r"unknown: instructions of 'a'; .*; add them to the graph, or .*--costs",
    ):
        Problem(graph, Cluster.equal(2))


def test_long_lists_are_shortened() -> None:
    graph = StreamGraph([Operator(f"op{v}", UNKNOWN, 0.0) for v in range(9)], [])
    (line,) = graph.lacking
    assert line.endswith("'op5' and 3 more")


def test_unknown_numbers_of_instances_name_their_operator() -> None:
    rows = [Operator(f"a[{i}]", UNKNOWN, UNKNOWN, instance_of="a") for i in range(2)]
    graph = StreamGraph(
        [*rows, Operator("b", 1.0, 0.0)], [Stream("a[0]", "b"), Stream("a[1]", "b")]
    )
    assert graph.lacking == ["instructions of 'a'", "payload_bytes of 'a'"]


@given(half_known())
def test_unknown_numbers_always_have_the_same_hash(graph: StreamGraph) -> None:
    again = StreamGraph(
        graph.operators, graph.streams, name=graph.name, source_rate=graph.source_rate
    )
    assert again.sha256 == graph.sha256
