"""Graphs from plain tuples and mappings, compared with graphs from rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from benchmarks.reference.strategies import graphs
from streamplace import Operator, Stream, StreamGraph
from streamplace.errors import GraphError
from streamplace.problem.rows import row_of


@given(graph=graphs())
def test_tuples_and_mappings_give_the_same_graph_as_rows(graph: StreamGraph) -> None:
    def fields(row: Any) -> dict[str, Any]:
        return {name: getattr(row, name) for name in row.__dataclass_fields__}

    shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}
    by_name = StreamGraph(
        [fields(o) for o in graph.operators],
        [fields(s) for s in graph.streams],
        source_shares=shares,
    )
    in_order = StreamGraph(
        [tuple(fields(o).values()) for o in graph.operators],
        [tuple(fields(s).values()) for s in graph.streams],
        source_shares=shares,
    )
    assert by_name.sha256 == in_order.sha256 == graph.sha256


def test_missing_fields_have_the_defaults_of_rows() -> None:
    operators: list[Any] = [
        ("a", 9e4, 2_500),
        {"name": "b", "instructions": 1, "payload_bytes": 0},
    ]
    streams: list[Any] = [("a", "b"), {"source": "a", "target": "b", "selectivity": 0.5}]
    short = StreamGraph(operators, streams)
    rows = StreamGraph(
        [Operator("a", 9e4, 2_500), Operator("b", 1, 0)],
        [Stream("a", "b"), Stream("a", "b", 0.5)],
    )
    assert short == rows
    assert len(StreamGraph([("alone", np.float32(1), np.int64(2))]).streams) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a",), "operators[7]: missing field 'instructions'"),
        (("a", 1), "operators[7]: missing field 'payload_bytes'"),
        (("a", "1", 0), "operators[7].instructions: must be a number (got '1')"),
        (("a", True, 0), "operators[7].instructions: must be a number (got True)"),
        (("a", None, 0), "operators[7].instructions: must be a number (got None)"),
        ((1, 1, 0), "operators[7].name: must be text (got 1)"),
        (("a", 1, 0, 0, 5), "operators[7].requires: must be a list of labels (got 5)"),
        (("a", 1, 0, 0, "gpu"), "operators[7].requires: must be a list of labels (got 'gpu')"),
        (("a",) * 20, "operators[7]: expected at most 19 values (got 20)"),
        (
            {"name": "a", "instruction": 1},
            "unknown field 'instruction'; did you mean 'instructions'?",
        ),
        (
            {"name": "a", "cpu": 1},
            "operators[7]: unknown field 'cpu'; known: 'name', 'instructions'",
        ),
        ({1: 2}, "operators[7]: unknown field 1; known: 'name'"),
        ("a", "operators[7]: must be sp.Operator, a tuple or a mapping, not str"),
        (Stream("a", "b"), "operators[7]: must be sp.Operator, a tuple or a mapping, not Stream"),
        (("a", "x" * 10_000, 0), "must be a number (got 'xxx"),
    ],
)
def test_an_error_is_one_line(row: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        row_of(Operator, "operators[7]", row)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_errors_distinguish_streams_from_operators() -> None:
    with pytest.raises(GraphError, match=r"streams\[1\].selectivity: must be a number"):
        StreamGraph([("a", 1, 0), ("b", 1, 0)], [("a", "b"), ("a", "b", "half")])
    with pytest.raises(GraphError, match=r"streams\[0\]: missing field 'target'"):
        StreamGraph([("a", 1, 0)], [("a",)])
