"""Standard errors of costs: checks, hashes, files and other formats, expansion, costs files."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import Operator, Stream, StreamGraph, read_graph
from streamplace.errors import FormatError, GraphError
from streamplace.files.graphs import graph_to
from streamplace.files.npz import write_columns
from streamplace.formats.costs import Costs
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.logical import LogicalGraph
from tests.support.graph_formats import read_back

ROWS = [
    Operator("a", 1e6, 10.0, instructions_se=2e5, payload_bytes_se=0.5),
    Operator("b", 3e6, 20.0),
]
STREAMS = [Stream("a", "b", 0.5, selectivity_se=0.1)]
GRAPH = StreamGraph(ROWS, STREAMS, source_rate=1000.0)
EXACT = StreamGraph([("a", 1e6, 10.0), ("b", 3e6, 20.0)], [("a", "b", 0.5)], source_rate=1000.0)


@pytest.mark.parametrize("error", [-1.0, float("nan"), float("inf")])
def test_other_numbers_are_refused(error: float) -> None:
    for name in ("instructions_se", "payload_bytes_se"):
        numbers: dict[str, Any] = {name: error}
        with pytest.raises(GraphError, match=rf"operators\[0\].{name}: must be finite and at"):
            StreamGraph([Operator("a", 1, 1, **numbers)])
    with pytest.raises(GraphError, match=r"streams\[0\].selectivity_se: must be finite and at"):
        StreamGraph(ROWS, [Stream("a", "b", selectivity_se=error)])


def test_errors_of_more_than_a_thousand_times_their_number_are_refused() -> None:
    for name in ("instructions", "payload_bytes"):
        with pytest.raises(
            GraphError, match=rf"operators\[0\].{name}_se: must be at most 1,000 ti"
        ):
            StreamGraph([Operator("a", 2.0, 2.0, **{f"{name}_se": 1e300})])  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"streams\[0\].selectivity_se: must be .* \(got 600\)"):
        StreamGraph(ROWS, [Stream("a", "b", 0.5, selectivity_se=600.0)])
    with pytest.raises(GraphError, match=r"operators\[1\].instructions_se: must be at most"):
        GRAPH.with_numbers(instructions_se=[0.0, 1e10])
    StreamGraph([Operator("a", 0.0, float("nan"), instructions_se=1e300, payload_bytes_se=1e300)])


def test_a_graph_without_errors_keeps_its_hash_repr_and_files() -> None:
    assert EXACT.sha256 == "279f839150805dd5a7d296793e6ae239d05a587a542542f830f30f734fd9ffcf"
    assert "_se" not in json.dumps(graph_to(EXACT)) + repr(EXACT.operators) + repr(EXACT.streams)
    columns = BytesIO()
    write_columns(EXACT, columns)
    assert b"_se" not in columns.getvalue()


def test_each_error_changes_the_hash() -> None:
    changed = [
        EXACT.with_numbers(instructions_se=[1, 0])[0],
        EXACT.with_numbers(payload_bytes_se=[1, 0])[0],
        EXACT.with_numbers(selectivity_se=[1])[0],
    ]
    assert len({graph.sha256 for graph in [EXACT, *changed]}) == 4
    assert "standard errors" in repr(changed[2])
    assert "standard errors" not in repr(EXACT)


def test_formats_keep_them(tmp_path: Path) -> None:
    for read in read_back(GRAPH, tmp_path).values():
        assert read.instructions_se.tolist() == [2e5, 0.0]
        assert read.payload_bytes_se.tolist() == [0.5, 0.0]
        assert read.selectivity_se.tolist() == [0.1]
        assert read.sha256 == GRAPH.sha256


def test_errors_follow_their_streams_when_these_are_sorted() -> None:
    streams = [Stream("a", "b", 2.0, selectivity_se=0.2), Stream("a", "b", 1.0, selectivity_se=0.1)]
    graph = StreamGraph(ROWS, streams)
    assert graph.selectivity.tolist() == [1.0, 2.0]
    assert graph.selectivity_se.tolist() == [0.1, 0.2]
    assert graph.sha256 == StreamGraph(ROWS, streams[::-1]).sha256
    swapped, before = graph.with_numbers(selectivity=[4.0, 3.0], selectivity_se=[0.1, 0.2])
    assert before.tolist() == [1, 0]
    assert swapped.selectivity_se.tolist() == [0.2, 0.1]


def test_a_number_that_is_replaced_loses_its_error() -> None:
    # The error is that of the former number. A new one is exact unless it comes with its own, as
    # in a costs file; numbers that stay the same keep theirs.
    rows = [Operator("a", 5e7, 100.0, instructions_se=1001.0, payload_bytes_se=2.0)]
    rows.append(Operator("b", 2e6, 50.0, instructions_se=3.0, payload_bytes_se=1.0))
    graph = StreamGraph(rows, [Stream("a", "b", 0.5, selectivity_se=0.1)])
    small = graph.with_numbers(
        instructions=[1.0, 2e6], payload_bytes=[0.01, 50.0], selectivity=[1e-6]
    )[0]
    assert small.instructions_se.tolist() == [0.0, 3.0]
    assert small.payload_bytes_se.tolist() == [0.0, 1.0]
    assert small.selectivity_se.tolist() == [0.0]
    replaced = graph.with_numbers(instructions=[1.0, 1.0], instructions_se=[0.1, 0.2])[0]
    assert replaced.instructions_se.tolist() == [0.1, 0.2]
    assert graph.with_numbers(source_rate=5.0)[0].instructions_se.tolist() == [1001.0, 3.0]


def test_a_payload_that_is_replaced_is_that_of_the_streams_without_their_own() -> None:
    graph = StreamGraph(ROWS, [Stream("a", "b"), Stream("a", "b", payload_bytes=7.0)])
    changed = graph.with_numbers(payload_bytes=[11.0, 0.0])[0]
    assert sorted(changed.stream_payload_bytes.tolist()) == [7.0, 11.0]


def test_streams_that_differ_only_in_their_errors_may_come_in_any_order() -> None:
    streams = [Stream("a", "b", selectivity_se=error) for error in (0.2, 0.1)]
    assert StreamGraph(ROWS, streams).sha256 == StreamGraph(ROWS, streams[::-1]).sha256


def test_instances_keep_the_relative_errors() -> None:
    logical = LogicalGraph(GRAPH, {"a": 2, "b": 4})
    expanded = to_instances(logical)
    assert expanded.instructions_se.tolist() == [2e5] * 2 + [0.0] * 4
    assert expanded.payload_bytes_se.tolist() == [0.5] * 2 + [0.0] * 4
    relative = expanded.selectivity_se / expanded.selectivity
    assert relative.tolist() == pytest.approx([0.2] * 8)
    folded = to_operators(logical)
    assert folded.instructions_se.tolist() == [2e5, 0.0]
    assert folded.selectivity_se.tolist() == [0.1]


def test_costs_of_the_user_replace_the_errors(tmp_path: Path) -> None:
    file = tmp_path / "costs.toml"
    file.write_text("[operators.a]\ninstructions = 5\nselectivity_se = 0.3\n")
    graph = Costs.read(file).of(LogicalGraph(GRAPH)).graph
    assert graph.instructions.tolist() == [5.0, 3e6]
    assert graph.instructions_se.tolist() == [0.0, 0.0]  # a number of the user is exact
    assert graph.payload_bytes_se.tolist() == [0.5, 0.0]
    assert (graph.selectivity.tolist(), graph.selectivity_se.tolist()) == ([0.5], [0.3])


def test_costs_as_csv_and_defaults_have_errors(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("operator,instructions,instructions_se,selectivity_se\na,5,1,\nb,,7,\n")
    graph = Costs.read(file).of(LogicalGraph(GRAPH)).graph
    assert graph.instructions_se.tolist() == [1.0, 7.0]
    assert graph.selectivity_se.tolist() == [0.1]
    unknown = EXACT.with_numbers(instructions=[np.nan, 1.0], selectivity=[np.nan])[0]
    toml = tmp_path / "costs.toml"
    toml.write_text(
        "[default]\ninstructions = 4\ninstructions_se = 2\nselectivity = 1\nselectivity_se = 0.1\n"
    )
    filled = Costs.read(toml).of(LogicalGraph(unknown)).graph
    assert filled.instructions_se.tolist() == [2.0, 0.0]  # known numbers keep theirs
    assert filled.selectivity_se.tolist() == [0.1]


def test_a_negative_error_in_a_file_is_refused(tmp_path: Path) -> None:
    value = graph_to(GRAPH)
    value["streams"][0]["selectivity_se"] = -1
    (tmp_path / "graph.json").write_text(json.dumps(value))
    with pytest.raises(FormatError, match=r"streams\[0\].selectivity_se: must be at least 0"):
        read_graph(tmp_path / "graph.json")
