"""Graphs: one canonical order, and errors that name the row or field."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from benchmarks.reference.strategies import graphs
from streamplace import from_networkx, to_networkx
from streamplace.errors import GraphError, ProblemError
from streamplace.files import read_graph, write_dataset
from streamplace.files.graphs import graph_from, graph_to
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem

A, B, C, D = (Operator(name, 1.0, 2.0) for name in "abcd")


def with_number(field: str, value: float) -> StreamGraph:
    """Return a graph a -> b in which one number of b or of the second stream is replaced."""
    if field == "selectivity":
        return StreamGraph([A, B], [Stream("a", "b"), Stream("a", "b", value)])
    if field == "stream payload_bytes":
        return StreamGraph([A, B], [Stream("a", "b"), Stream("a", "b", payload_bytes=value)])
    changed: dict[str, Any] = {field: value}
    return StreamGraph([A, replace(B, **changed)], [Stream("a", "b")])


@pytest.mark.parametrize("value", [-1.0, float("-inf"), float("inf")])
@pytest.mark.parametrize(
    "field",
    ["instructions", "payload_bytes", "memory_bytes", "selectivity", "stream payload_bytes"],
)
def test_impossible_numbers(field: str, value: float) -> None:
    rows = "streams" if field in ("selectivity", "stream payload_bytes") else "operators"
    place = rf"^{rows}\[1\]\.{field.rsplit(maxsplit=1)[-1]}: must be finite and at least 0"
    with pytest.raises(GraphError, match=place):
        with_number(field, value)


FAULTS: dict[str, tuple[list[Operator], list[Stream], dict[str, Any], str]] = {
    "empty": ([], [], {}, r"^operators: a graph needs at least one operator"),
    "no name": ([A, Operator("", 1, 1)], [], {}, r"^operators\[1\]\.name: is empty"),
    "duplicate": (
        [A, B, A],
        [],
        {},
        r"^operators\[2\]\.name: duplicate name 'a', see operators\[0\]",
    ),
    "source": ([A, B], [Stream("x", "b")], {}, r"^streams\[0\]: unknown operator 'x'"),
    "target": (
        [A, B],
        [Stream("a", "b"), Stream("a", "x")],
        {},
        r"^streams\[1\]: unknown operator 'x'",
    ),
    "several ends": (
        [A, B],
        [Stream("a", "x"), Stream("a", "b"), Stream("x", "y")],
        {},
        r"^streams\[0\]: unknown operator 'x'; streams\[2\]: unknown operator 'x'; "
        r"streams\[2\]: unknown operator 'y'$",
    ),
    "many ends": (
        [A],
        [Stream("a", "x")] * 22,
        {},
        r"^streams\[0\] and 21 more: unknown operator 'x'$",
    ),
    "many names of ends": (
        [A],
        [Stream("a", f"x{i}") for i in range(22)],
        {},
        r"; streams\[19\]: unknown operator 'x19'; and 2 more faults$",
    ),
    "loop": ([A, B], [Stream("a", "b"), Stream("b", "b")], {}, r"^streams\[1\]: 'b' feeds itself"),
    "no rate": ([A], [], {"source_rate": 0.0}, r"^source_rate: must be finite and above 0"),
    "nan rate": ([A], [], {"source_rate": float("nan")}, r"^source_rate: .*got nan"),
    "missing share": ([A, B], [], {"source_shares": {"a": 1}}, r"^source_shares: .*missing: 'b'"),
    "share of a non-source": (
        [A, B],
        [Stream("a", "b")],
        {"source_shares": {"a": 0.5, "b": 0.5}},
        r"^source_shares: .*not one of them: 'b'",
    ),
    "share of the wrong operator": (
        [A, B, D],
        [Stream("d", "a")],
        {"source_shares": {"a": 0.5, "b": 0.5}},
        r"^source_shares: .*not one of them: 'a'; missing: 'd'",
    ),
    "negative share": (
        [A, B],
        [],
        {"source_shares": {"a": 1.5, "b": -0.5}},
        r"^source_shares\['b'\]: must be finite and at least 0 \(got -0\.5\)",
    ),
    "nan share": ([A], [], {"source_shares": {"a": float("nan")}}, r"^source_shares\['a'\]: must"),
    "sum": ([A], [], {"source_shares": {"a": 0.9}}, r"^source_shares: must sum to 1 \(got 0\.9\)"),
    "misspelt rate": (
        [A, B],
        [],
        {"source_rates": {"a": 1, "c": 1}},
        r"^source_rates: .*not one of them: 'c'; missing: 'b'",
    ),
    "missing rate": ([A, B], [], {"source_rates": {"a": 1}}, r"^source_rates: .*missing: 'b'"),
    "negative rate": (
        [A],
        [],
        {"source_rates": {"a": -1}},
        r"^source_rates\['a'\]: must be finite",
    ),
    "zero rates": ([A], [], {"source_rates": {"a": 0}}, r"^source_rates: .*above 0 \(got 0\)"),
    "huge rates": (
        [A, B],
        [],
        {"source_rates": {"a": 1e308, "b": 1e308}},
        r"^source_rates: must add up to a finite rate above 0 \(got inf\)",
    ),
    "two rates": (
        [A, B],
        [],
        {"source_rates": {"a": 1, "b": 2}, "source_rate": 4},
        r"^source_rates: add up to 3 tuples/s, but source_rate is 4; leave out one of them",
    ),
    "rates and shares": (
        [A, B],
        [],
        {"source_rates": {"a": 1, "b": 3}, "source_shares": {"a": 0.5, "b": 0.5}},
        r"^source_rates: 0\.25 of the rate enters at 'a', but source_shares says 0\.5; leave out",
    ),
}


@pytest.mark.parametrize(
    ("operators", "streams", "options", "message"), FAULTS.values(), ids=FAULTS.keys()
)
def test_invalid_graphs_are_refused(
    operators: list[Operator], streams: list[Stream], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        StreamGraph(operators, streams, **options)


def test_rates_of_sources_are_their_sum_and_shares_of_it() -> None:
    rates = {"a": 250.0, "b": 750.0}
    expected = StreamGraph([A, B], source_rate=1000.0, source_shares={"a": 0.25, "b": 0.75})
    graph = StreamGraph([A, B], source_rates=rates)
    assert graph == expected
    assert graph.sha256 == expected.sha256
    same: dict[str, Any] = {"source_rate": 1000.0, "source_shares": {"a": 0.25, "b": 0.75}}
    assert StreamGraph([A, B], source_rates=rates, **same) == graph


def test_the_message_names_a_cycle_in_its_direction() -> None:
    """The operators upstream and downstream of a cycle are not part of it."""
    streams = [Stream(*ends) for ends in ("ab", "bc", "cd", "db", "de")]
    with pytest.raises(GraphError) as caught:
        StreamGraph([A, B, C, D, Operator("e", 1, 1)], streams)
    cycle = str(caught.value).removeprefix("streams: the graph has a cycle: ").split(" -> ")
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[1:]) == ["b", "c", "d"]
    assert all(f"{a}{b}" in ("bc", "cd", "db") for a, b in pairwise(cycle))


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_streams_does_not_matter(graph: StreamGraph, random: Any) -> None:
    streams = list(graph.streams)
    random.shuffle(streams)
    shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}
    other = StreamGraph(graph.operators, streams, source_shares=shares)
    assert other == graph
    assert other.sha256 == graph.sha256
    assert list(other.streams) == list(graph.streams)


@given(graphs())
def test_streams_into_an_operator_precede_those_out_of_it(graph: StreamGraph) -> None:
    emitted: set[str] = set()
    for stream in graph.streams:
        emitted.add(stream.source)
        assert stream.target not in emitted
    position = {v: i for i, v in enumerate(graph.order.tolist())}
    assert sorted(position) == list(range(len(graph.names)))
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    assert all(position[a] < position[b] for a, b in ends)


def test_ties_go_to_the_first_operator() -> None:
    graph = StreamGraph([D, C, B, A], [Stream("a", "d"), Stream("b", "c"), Stream("b", "a")])
    assert [graph.names[v] for v in graph.order] == ["b", "c", "a", "d"]
    ends = [(s.source, s.target) for s in graph.streams]
    assert ends == [("b", "c"), ("b", "a"), ("a", "d")]


@given(graphs())
def test_columns_and_rows_are_the_same_graph(graph: StreamGraph) -> None:
    ends = np.stack([graph.stream_source, graph.stream_target], axis=1)
    columns = StreamGraph.from_columns(
        graph.names,
        graph.instructions,
        graph.payload_bytes,
        ends[::-1],
        memory_bytes=graph.memory_bytes,
        cores=graph.cores,
        selectivity=graph.selectivity[::-1],
        stream_payload_bytes=graph.stream_payload_bytes[::-1],
        source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
    )
    assert columns == graph
    assert list(columns.operators) == list(graph.operators)
    assert list(columns.streams) == list(graph.streams)


def test_columns_have_the_same_defaults_as_rows() -> None:
    columns = StreamGraph.from_columns(["a", "b"], [1, 1], [2, 2], [[0, 1]], requires={1: ("gpu",)})
    rows = [A, Operator("b", 1.0, 2.0, requires=("gpu",))]
    assert columns == StreamGraph(rows, [Stream("a", "b")])
    assert columns.operators[1] == rows[1]
    assert columns.streams[0] == Stream("a", "b", 1.0, 2.0)


@pytest.mark.parametrize("ends", [[[0, 2]], [[-1, 0]]])
def test_ends_outside_the_columns(ends: list[list[int]]) -> None:
    with pytest.raises(GraphError, match=r"streams: ends has an operator index outside 0\.\.1"):
        StreamGraph.from_columns(["a", "b"], [1, 1], [1, 1], ends)


def test_columns_of_the_wrong_length() -> None:
    with pytest.raises(GraphError, match=r"operators: instructions must be a column of 2"):
        StreamGraph.from_columns(["a", "b"], [1, 1, 1], [1, 1], [])
    with pytest.raises(GraphError, match=r"streams: selectivity must be a column of 1"):
        StreamGraph.from_columns(["a", "b"], [1, 1], [1, 1], [[0, 1]], selectivity=[1, 1])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([[0.0, 1.0]], "must be integers of shape"),
        ([0, 1, 1], "must be integers of shape"),
        ([[0, 2**32 + 1]], r"outside 0\.\.1"),
        ([[-1, 0]], r"outside 0\.\.1"),
    ],
)
def test_invalid_ends(ends: ArrayLike, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        StreamGraph.from_columns(["a", "b"], [1, 1], [1, 0], ends)


def test_labels_of_an_unknown_operator() -> None:
    with pytest.raises(GraphError, match="requires: unknown operator index 3"):
        StreamGraph.from_columns(["a"], [1], [1], [], requires={3: ("gpu",)})


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
