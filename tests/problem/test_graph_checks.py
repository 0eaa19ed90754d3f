"""A document's graph is checked and sorted once, even if its numbers are replaced later."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import GraphError
from streamplace.problem import graph_checks
from streamplace.problem.graph import UNKNOWN, Stream, StreamGraph
from streamplace.problem.graph_checks import topological_order
from streamplace.util.arrays import Ints
from tests.corpus.engine_documents import DOCUMENTS
from tests.corpus.engine_documents.storm import METRICS, TOPOLOGY, VISUALIZATION
from tests.support.cli import Capture, succeeds
from tests.support.documents import read_document
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.strategies import graphs_with_unknowns

COSTS = """\
source_rate = 100
[default]
instructions = 1000
payload_bytes = 8
selectivity = 0.5
memory_bytes = 3
"""
CASES = [(kind, text) for kind, texts in DOCUMENTS.items() for text in texts]


@pytest.fixture
def sorted_graphs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that records the number of operators of each graph built during the test."""
    counts: list[int] = []

    def counted(count: int, ends: Ints) -> Ints:
        counts.append(count)
        return topological_order(count, ends)

    monkeypatch.setattr(graph_checks, "topological_order", counted)
    return counts


def costs_file(folder: Path) -> Path:
    file = folder / "costs.toml"
    file.write_text(COSTS)
    return file


@pytest.mark.parametrize("with_costs", [False, True])
@pytest.mark.parametrize(("kind", "text"), CASES)
def test_import_builds_each_graph_once(
    kind: str,
    text: str,
    with_costs: bool,
    sorted_graphs: list[int],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    """The graph of instances is also built once."""
    file = tmp_path / "document"
    file.write_text(text)
    costs = ("--costs", costs_file(tmp_path)) if with_costs else ()
    command = ("import", file, "--from", kind, *costs, "-o", tmp_path / "graph.json", "--json")
    logical = read_document(kind, text)
    operators = len(logical.graph.names)
    instances = operators + sum(count - 1 for count in logical.parallelism.values())
    sorted_graphs.clear()
    succeeds(capsys, *command, "--fold")
    assert sorted_graphs == [operators]
    sorted_graphs.clear()
    succeeds(capsys, *command)
    assert sorted_graphs == ([operators, instances] if logical.parallelism else [operators])


def test_a_profile_of_storm_builds_its_graph_once(
    sorted_graphs: list[int], tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "documents.json"
    parts = {"topology": TOPOLOGY, "metrics": METRICS, "visualization": VISUALIZATION}
    file.write_text(json.dumps(parts))
    command = ("profile", "storm", file, "--mips", 1000, "--costs", costs_file(tmp_path))
    succeeds(capsys, *command, "--fold", "-o", tmp_path / "graph.json")
    operators = len(read_document("storm-ui", file.read_text()).graph.names)
    assert sorted_graphs == [operators, operators]  # this test builds the second one


def test_a_profile_of_flink_builds_its_graph_once(
    sorted_graphs: list[int], tmp_path: Path, capsys: Capture
) -> None:
    """Every operator of the sample job has one instance, so the placement uses this graph."""
    costs, graph = costs_file(tmp_path), tmp_path / "graph.json"
    with serving(SampleJob()) as url:
        command = ("profile", "flink", url, "--job", JOB_ID, "--mips", 1000, "--seconds", 0)
        succeeds(
            capsys, *command, "--costs", costs, "-o", graph, "--placement", tmp_path / "now.json"
        )
    assert len(sorted_graphs) == 1


@given(graphs_with_unknowns(), st.data())
def test_replaced_numbers_equal_a_new_graph(graph: StreamGraph, data: st.DataObject) -> None:
    numbers = st.sampled_from([UNKNOWN, 0.0, 1.0, 2.5])
    count = len(graph.streams)
    selectivity = data.draw(st.lists(numbers, min_size=count, max_size=count))
    payload = data.draw(st.lists(numbers, min_size=count, max_size=count))
    work = data.draw(st.lists(numbers, min_size=len(graph.names), max_size=len(graph.names)))
    found, before = graph.with_numbers(
        instructions=work,
        payload_bytes=work,
        selectivity=selectivity,
        stream_payload_bytes=payload,
        source_rate=7.0,
    )
    rows = [
        Stream(s.source, s.target, x, None if np.isnan(y) else y)
        for s, x, y in zip(graph.streams, selectivity, payload, strict=True)
    ]
    again = StreamGraph.from_columns(
        graph.names,
        work,
        work,
        [(graph.index[s.source], graph.index[s.target]) for s in rows],
        memory_bytes=graph.memory_bytes,
        requires=graph.requires,
        instance_of=graph.instance_of,
        cores=graph.cores,
        resources=graph.resources,
        selectivity=selectivity,
        stream_payload_bytes=payload,
        name=graph.name,
        source_rate=7.0,
        source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
        constraints=graph.constraints,
    )
    assert found == again
    assert np.array_equal(found.selectivity, np.array(selectivity)[before], equal_nan=True)
    assert not any(
        column.flags.writeable for column in vars(found).values() if isinstance(column, np.ndarray)
    )


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"instructions": [1.0, -1.0]}, "operators[1].instructions: must be finite"),
        ({"memory_bytes": [1.0]}, "operators: memory_bytes must be a column of 2"),
        ({"selectivity": [float("inf")]}, "streams[0].selectivity: must be finite"),
        ({"stream_payload_bytes": []}, "streams: payload_bytes must be a column of 1"),
        ({"source_rate": 0.0}, "source_rate: must be finite and above 0"),
        ({"source_shares": {"b": 1.0}}, "source_shares: must name exactly"),
        ({"source_rates": {"b": 1.0}}, "source_rates: must name exactly"),
        ({"source_rate": 5.0, "source_rates": {"a": 4.0}}, "source_rates: add up to 4 tuples/s"),
    ],
)
def test_replaced_numbers_are_checked(numbers: dict[str, object], message: str) -> None:
    graph = StreamGraph([("a", 1.0, 1.0), ("b", 1.0, 1.0)], [("a", "b")])
    with pytest.raises(GraphError) as caught:
        graph.with_numbers(**numbers)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("operator", "stream", "message"),
    [
        ({"typical": ["payload"]}, {}, r"operators\[0\].typical: .*'payload'.*payload_bytes"),
        ({}, {"typical": ["instructions"]}, r"streams\[0\].typical: .*'instructions'"),
    ],
)
def test_marks_of_numbers_that_cannot_be_guesses(
    operator: dict[str, Any], stream: dict[str, Any], message: str
) -> None:
    first = {"name": "a", "instructions": 1.0, "payload_bytes": 1.0, **operator}
    with pytest.raises(GraphError, match=message):
        StreamGraph([first, ("b", 1.0, 0.0)], [{"source": "a", "target": "b", **stream}])
