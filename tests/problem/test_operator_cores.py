"""The number of cores that an operator can use: checks, files and other formats."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from streamplace import Cluster, Operator, Placement, Problem, Stream, StreamGraph, read_graph
from streamplace.errors import GraphError
from streamplace.files import write_json
from streamplace.files.graphs import graph_to
from streamplace.files.npz import write_columns
from streamplace.scoring.throughput import simulate
from tests.support.cli import Capture, printed
from tests.support.graph_formats import read_back

ROWS = [Operator("a", 1e6, 10.0, cores=3), Operator("b", 1e6, 0.0)]
GRAPH = StreamGraph(ROWS, [Stream("a", "b")], source_rate=1000.0)


@pytest.mark.parametrize("cores", [0, -1, 1.5, 2_000_000])
def test_other_numbers_are_refused(cores: Any) -> None:
    with pytest.raises(GraphError, match=r"operators\[0\].cores: must be a whole number, 1 to"):
        StreamGraph([Operator("a", 1, 1, cores=cores)])


def test_formats_keep_it(tmp_path: Path) -> None:
    for read in read_back(GRAPH, tmp_path).values():
        assert read.cores.tolist() == [3.0, 1.0]
        assert read.sha256 == GRAPH.sha256


def test_a_graph_of_single_threads_keeps_its_hash_and_columns() -> None:
    plain = StreamGraph([("a", 1e6, 10.0), ("b", 1e6, 0.0)], [("a", "b")])
    assert plain.cores.tolist() == [1.0, 1.0]
    assert plain.sha256 != GRAPH.sha256
    columns = BytesIO()
    write_columns(plain, columns)
    assert b"cores" not in columns.getvalue()


def test_a_file_that_states_one_core_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    rows = [{"name": "a", "instructions": 1, "cores": 1}, {"name": "b", "instructions": 1}]
    value = {"format": "streamplace-graph", "version": 1, "operators": rows}
    file.write_text(json.dumps(value))
    graph = read_graph(file)
    assert graph.stated_cores == {"a"}
    write_json(file, graph_to(graph))
    assert read_graph(file).stated_cores == {"a"}


def test_an_operator_uses_its_cores_and_no_more() -> None:
    """3,000 MIPS of work on four cores of 1,000 MIPS each."""
    for model in ("bottleneck", "path-average", "engine"):
        for cores, expected in ((1, 1000 / 3), (2, 2000 / 3), (3, 1000.0), (4, 1000.0)):
            graph = StreamGraph([Operator("a", 3e6, 0.0, cores=cores)], source_rate=1000.0)
            problem = Problem(graph, Cluster.parse("1x1000x4"), model=model)
            score = simulate(Placement(problem, [0]))
            assert score.throughput == pytest.approx(expected)
            assert score.bottleneck.kind == ("device" if cores == 4 else "operator")


def test_place_notes_an_operator_that_limits_throughput_without_stated_cores(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "graph.json"
    for rate, stated, noted in ((300, {}, False), (1000, {}, True), (1000, {"cores": 1}, False)):
        row = {"name": "heavy", "instructions": 3e6, "payload_bytes": 0} | stated
        value = {"format": "streamplace-graph", "version": 1, "source_rate": rate}
        file.write_text(json.dumps(value | {"operators": [row]}))
        words = ("place", file, "--devices", "2x1000x4", "--placer", "single")
        output, notes = printed(capsys, *words)
        assert ("operator 'heavy' can use one core of its device" in notes) == noted
    assert "bottleneck operator heavy at 300.0%" in output
