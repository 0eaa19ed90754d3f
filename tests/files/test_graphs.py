"""Graphs as JSON files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import FormatError
from streamplace.files import read_graph, write_dataset
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.reading import decode, parse
from streamplace.files.schema import GraphForm
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph
from tests.corpus.documents import DREAM, GRAPH
from tests.support.errors import result_or_error
from tests.support.strategies import altered_json, full_graphs


@given(full_graphs())
def test_round_trip(graph: StreamGraph) -> None:
    value = graph_to(graph)
    text = json.dumps(value, ensure_ascii=False)
    again = graph_from(parse(text, "x"), "x")
    assert again == graph
    assert graph_to(again) == value
    GraphForm.model_validate(value)


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".jsonl.gz", ".npz"])
def test_round_trip_through_every_ending(ending: str, tmp_path: Path) -> None:
    graph = graph_from(GRAPH, "x")
    write_dataset(tmp_path / f"x{ending}", [graph])
    assert read_graph(tmp_path / f"x{ending}") == graph


@pytest.mark.parametrize("ending", [".json", ".jsonl.gz", ".npz"])
def test_rates_of_sources_are_read_and_kept(ending: str, tmp_path: Path) -> None:
    """Written files have their sum and the shares of it."""
    shared = {key: v for key, v in GRAPH.items() if key not in ("source_rate", "source_shares")}
    graph = graph_from({**shared, "source_rates": {"a": 250, "b": 750}}, "x")
    assert graph == graph_from(GRAPH, "x")
    write_dataset(tmp_path / f"x{ending}", [graph])
    assert read_graph(tmp_path / f"x{ending}") == graph
    with pytest.raises(FormatError, match=r"^x: source_rates: add up to 999 tuples/s, but source_"):
        graph_from({**GRAPH, "source_rates": {"a": 249, "b": 750}}, "x")


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(pins={"a": "d0"}),
        Constraints(colocate=[("a", "b")]),
        Constraints(exlocate=(["a", "b"],)),
        Constraints(allowed={"a": ("d0", "d1")}),
    ],
    ids=["pins", "colocate", "exlocate", "allowed"],
)
def test_constraints_written_in_python_are_equal_when_read(
    constraints: Constraints, ending: str, tmp_path: Path
) -> None:
    operators = [Operator("a", 1.0, 1.0), Operator("b", 1.0, 1.0)]
    streams = [Stream("a", "b")]
    graph = StreamGraph(operators, streams, name="g", constraints=constraints)
    write_dataset(tmp_path / f"x{ending}", [graph])
    assert read_graph(tmp_path / f"x{ending}") == graph


def test_empty_constraints_equal_no_constraints() -> None:
    plain = {key: value for key, value in GRAPH.items() if key != "constraints"}
    nothings: list[Any] = [{}, {"comment": "none yet"}, {"colocate": []}, None]
    for nothing in nothings:
        assert graph_from({**plain, "constraints": nothing}, "x") == graph_from(plain, "x")


@pytest.mark.parametrize("field", ["instructions", "payload_bytes", "memory_bytes"])
def test_minus_zero_is_zero(field: str) -> None:
    """A graph with -0.0 must match the hash in its own file."""
    operators = [{"name": "a", "instructions": 1.0, field: -0.0}]
    graph = graph_from({"operators": operators}, "x")
    assert graph_from(graph_to(graph), "x").sha256 == graph.sha256


def test_the_order_of_streams_does_not_matter() -> None:
    reversed_streams = {**GRAPH, "streams": GRAPH["streams"][::-1]}
    assert graph_from(reversed_streams, "x") == graph_from(GRAPH, "x")


def test_defaults() -> None:
    graph = graph_from({"operators": [{"name": "a", "instructions": 1}]}, "x", "file")
    assert graph.name == "file"
    assert graph.source_rate is None
    assert graph.operators[0] == Operator("a", 1.0, 0.0)
    streams = {"streams": [{"source": "a", "target": "b"}]}
    operators = [{"name": "a", "instructions": 0, "payload_bytes": 9}]
    operators.append({"name": "b", "instructions": 0})
    two = graph_from({"operators": operators, **streams}, "x")
    assert two.streams[0] == Stream("a", "b", 1.0, 9.0)


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(GRAPH), encoding="utf-8-sig")
    assert read_graph(tmp_path / "x.json") == graph_from(GRAPH, "x")


@pytest.mark.parametrize("value", [GRAPH, DREAM], ids=["streamplace", "dream"])
@given(data=st.data())
def test_an_altered_graph_is_valid_or_refused_in_one_line(value: Any, data: st.DataObject) -> None:
    graph, message = result_or_error(graph_from, data.draw(altered_json(value)), "x.json")
    if graph is None:
        assert message.startswith("x.json: ")
        assert "\n" not in message
    else:
        assert graph_from(graph_to(graph), "x.json").names == graph.names


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_bytes_are_json_or_refused_in_one_line(data: bytes) -> None:
    _, message = result_or_error(lambda: parse(decode(data, "x.json"), "x.json"))
    assert message == "" or message.startswith("x.json: ")


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "b": 2, "a": 3}}]', '{"a": {}, "\\u0061": {}}'],
)
def test_a_repeated_key_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="'a'"):
        parse(text, "x.json")
    assert parse('[{"a": 1}, {"a": {"a": 2}}]', "x.json")
