"""DOT files, read and written."""

from math import isnan

import pytest
from hypothesis import given

from benchmarks.reference.strategies import Case, cases
from streamplace.formats import dot
from streamplace.formats.attributes import to_attributed_graph
from streamplace.formats.costs import Costs
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from tests.corpus.engine_documents.interchange import DOT
from tests.support.documents import edges, read_document, refused_document
from tests.support.strategies import graphs_with_unknowns

C = 'c "quoted" \\'


@given(graphs_with_unknowns())
def test_round_trip(graph: StreamGraph) -> None:
    assert read_document("dot", dot.to_text(to_attributed_graph(graph))).graph == graph


@given(cases())
def test_written_placements_contain_devices(case: Case) -> None:
    placement = Placement(*case)
    text = dot.write(placement)
    assert read_document("dot", text).graph == placement.problem.graph
    rows = [line for line in text.splitlines() if "device=" in line]
    assert len(rows) == len(placement.devices)
    for (operator, device), row in zip(placement.assignment.items(), rows, strict=True):
        assert row.startswith(f'  "{operator}" [')
        assert row.endswith(f'device="{device}"];')


def test_dot_written_by_people_and_tools() -> None:
    graph = read_document("dot", DOT).graph
    assert (graph.name, graph.source_rate) == ("a job", 1000.0)
    assert graph.names == ("a", "b", C, "d", "long")
    assert graph.instructions.tolist() == [100.5, 50, 50, 50, 50]
    assert graph.payload_bytes[[1, 2]].tolist() == [8, 8]
    assert isnan(graph.payload_bytes[0])
    assert graph.requires == {2: ("gpu",)}
    selectivities = {(s.source, s.target): s.selectivity for s in graph.streams}
    assert selectivities == {
        ("a", "b"): 2,
        ("a", C): 2,
        ("b", "d"): 2,
        (C, "d"): 2,
        ("a", "long"): 0.5,
    }


def test_written_text() -> None:
    graph = StreamGraph(
        [Operator("a", 1.5, 8.0), Operator('"b"', 2.0, float("nan"), 4.0, ("gpu",))],
        [Stream("a", '"b"', 0.5, 7.0)],
        name="job",
    )
    assert dot.to_text(to_attributed_graph(graph)) == (
        'digraph "job" {\n'
        '  "a" [instructions="1.5", payload_bytes="8.0"];\n'
        '  "\\"b\\"" [instructions="2.0", memory_bytes="4.0", requires="[\\"gpu\\"]"];\n'
        '  "a" -> "\\"b\\"" [selectivity="0.5", payload_bytes="7.0"];\n'
        "}\n"
    )


def test_strict_merges_repeated_edges() -> None:
    text = "digraph { a -> b; a -> b [selectivity=2] }"
    assert edges(read_document("dot", text)) == [("a", "b"), ("a", "b")]
    strict = read_document("dot", f"strict {text}").graph
    assert [s.selectivity for s in strict.streams] == [2.0]


def test_commas_separate_nodes_of_an_end() -> None:
    """Graphviz reads ``a, b -> c`` as ``{a b} -> c``, and attributes as those of all nodes."""
    job = read_document("dot", "digraph { a, b -> c, d; a, b [instructions=5] }")
    assert edges(job) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    assert job.graph.instructions[:2].tolist() == [5.0, 5.0]


def test_labels_of_edges_name_streams() -> None:
    """As those of `vector graph`, where a route has several outputs."""
    text = (
        'digraph { "route" -> "out" [label="slow", selectivity=0.5] '
        '"route" -> "out" [label="errors\\nper s"] "route" -> "out" [label="_unmatched"] '
        '"route" -> "log" [label=""] }'
    )
    job = read_document("dot", text)
    assert job.stream_ids == ["slow", "errors", "_unmatched", ""]
    costs = {"route->out:errors": 0.1, "route->out:_unmatched": 0.9, "route->log": 1.0}
    found = Costs(streams=costs).of(job)
    known = zip(found.stream_ids, found.graph.selectivity.tolist(), strict=True)
    assert {*known} == {("errors", 0.1), ("slow", 0.5), ("_unmatched", 0.9), ("", 1.0)}


def test_attributes_of_subgraphs_are_ignored() -> None:
    text = "digraph { subgraph s { source_rate=5; graph [source_rate=6]; a } a -> b }"
    assert read_document("dot", text).graph.source_rate is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'digraph' (got the end of the text)"),
        ("graph { a -- b }", "line 1: the graph is undirected; use 'digraph'"),
        ("digraph {\n a -- b }", "line 2: expected a name (got '--'); write '->' in a digraph"),
        ("digraph {\n a [selectivity=5%]\n}", "line 2: not DOT: '%]'"),
        ("digraph {\n source_rate = 12,000\n a }", "line 2: expected a name (got ',')"),
        ("digraph { a -> b", "line 1: expected a name (got the end of the text)"),
        ("digraph { a -> a }", "streams[0]: 'a' feeds itself"),
        ("digraph { a -> b -> a }", "streams: the graph has a cycle: a -> b -> a"),
        ("digraph { a } digraph { b }", "line 1: expected the end of the text (got 'digraph')"),
        ("digraph { }", "operators: a graph needs at least one operator"),
        ('digraph { "a }', "line 1: not DOT: '\"a }'"),
        ("digraph { a [label=<b] }", "line 1: not DOT: a '<' is never closed"),
        ("digraph { a [instructions=many] }", "'a': instructions: must be a finite number"),
        ("digraph { a [instructions=-1] }", "'a': instructions: must be a finite number"),
        ("digraph { a [instructions=nan] }", "'a': instructions: must be a finite number"),
        ('digraph { a [instructions="1e999"] }', "'a': instructions: must be a finite number"),
        ("digraph { a [requires=gpu] }", "'a': requires: line 1 column 1: not JSON"),
        ('digraph { a [requires="[1]"] }', "'a': requires: must be a JSON list of labels"),
        ("digraph { constraints=5 a }", "constraints: must be an object (got a number)"),
        ("digraph {" * 2, "line 1: expected a name (got 'digraph')"),
        ("digraph " + "{" * 60, "line 1: subgraphs nested more than 50 deep"),
        ('digraph { a -> "b" + c }', "line 1: expected a quoted name after '+'"),
        ("digraph { a -> b [x] }", "line 1: expected '=' (got ']')"),
    ],
)
def test_invalid_dot(text: str, message: str) -> None:
    assert refused_document("dot", text).startswith(message)


def test_too_many_edges() -> None:
    many = " ".join(f"n{i}" for i in range(1001))
    message = refused_document("dot", f"digraph {{ {{ {many} }} -> {{ {many} }} }}")
    assert message == "line 1: more than 1,000,000 edges"
