"""Graph files of METIS, with each kind of weights, and invalid ones."""

from math import isnan
from pathlib import Path

import pytest

from tests.corpus.engine_documents.interchange import METIS, METIS_SIZES
from tests.support.cli import Capture, refused, succeeds
from tests.support.documents import edges, read_document, refused_document

PLAIN = "3 2\n2\n1 3\n2\n"


def test_weights_are_instructions_and_bytes() -> None:
    graph = read_document("metis", METIS).graph
    assert graph.instructions.tolist() == [40, 10, 20, 30, 0]
    bytes_of = {(s.source, s.target): s.payload_bytes for s in graph.streams}
    one = {("1", "2"): 8, ("1", "3"): 1, ("1", "4"): 5, ("2", "3"): 2, ("3", "4"): 7}
    assert bytes_of == one
    assert graph.firing == "all"
    assert graph.multicast == "none"


def test_sizes_are_bytes_to_each_device() -> None:
    job = read_document("metis", METIS_SIZES)
    assert job.graph.payload_bytes.tolist() == [100, 200, 300]
    assert job.graph.instructions.tolist() == [5, 6, 7]
    assert job.graph.multicast == "device"
    assert "the first of 2 weights of a vertex counts as its instructions" in job.notes


def test_sizes_beside_weights_of_edges_are_not_read() -> None:
    job = read_document("metis", "2 1 101\n5 2 7\n6 1 7\n")
    assert job.graph.stream_payload_bytes.tolist() == [7]
    assert "sizes of vertices are not read, since edges have weights" in job.notes


def test_numbers_that_are_not_stated_stay_unknown() -> None:
    job = read_document("metis", PLAIN)
    assert edges(job) == [("1", "2"), ("2", "3")]
    assert all(map(isnan, (*job.graph.instructions, *job.graph.stream_payload_bytes)))


@pytest.mark.parametrize("text", ["2 0\n\n\n", "2 0\r\n\r\n\r\n", "% a\n2 0 0\n\n% b\n\n\n\n"])
def test_vertices_without_edges_are_empty_lines(text: str) -> None:
    assert len(read_document("metis", text).graph.names) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the numbers of vertices and edges"),
        ("5\n", "line 1: expected the numbers of vertices and edges"),
        ("0 0\n", "line 1: expected the numbers of vertices and edges"),
        ("1 0 2\n\n", "line 1: expected the numbers of vertices and edges"),
        ("1 0 1011\n\n", "line 1: expected the numbers of vertices and edges"),
        ("1 0 010 0\n\n", "line 1: expected the numbers of vertices and edges"),
        ("1 0 010 1 1\n1\n", "line 1: expected the numbers of vertices and edges"),
        ("3 2\n2\n1 x\n2\n", "line 3: expected whole numbers of at least 0 (got 'x')"),
        ("3 2\n2\n1 -3\n2\n", "line 3: expected whole numbers of at least 0 (got '-3')"),
        (f"{'9' * 16} 2\n", "line 1: expected whole numbers of at least 0 (got '9999"),
        ("4 2\n2\n1 3\n2", "expected a line for each of 4 vertices (got 3)"),
        ("2 2\n2\n1 3\n2\n", "expected a line for each of 2 vertices (got 3)"),
        ("999999999999999 1\n1\n", "expected a line for each of 999,999,999,999,999 vertices"),
        ("% a\n3 2\n2\n% b\n1 4\n2\n", "line 5: the neighbours of vertex 2 must be other vertices"),
        (
            "1 1\n1\n",
            "line 2: the neighbours of vertex 1 must be other vertices, from 1 to 1",
        ),
        ("2 1\n2 2\n1\n", "line 2: neighbour 2 appears twice"),
        ("2 1\n2\n\n", "line 2: vertex 1 has the neighbour 2, but 2 has no neighbour 1"),
        (
            "2 1 1\n2 7\n1 8\n",
            "line 2: vertex 1 has the neighbour 2 with weight 7, but 2 has 1 with weight 8",
        ),
        ("2 1 1\n2\n1 8\n", "line 2: the last neighbour, 2, has no weight"),
        ("1 0 111 2\n5 6\n", "line 2: expected 3 numbers of the vertex (got 2)"),
        ("3 4\n2\n1 3\n2\n", "the first line states 4 edges, but the others have 2; an edge"),
    ],
)
def test_invalid_metis(text: str, message: str) -> None:
    assert refused_document("metis", text).startswith(message)


def test_a_file_is_imported_and_placed(tmp_path: Path, capsys: Capture) -> None:
    file, graph = tmp_path / "mesh.graph", tmp_path / "mesh.json"
    file.write_text(METIS)
    line = refused(capsys, "place", file)
    assert line.endswith(f"streamplace import {file} --from metis -o mesh-graph.json")
    succeeds(capsys, "import", file, "--from", "metis", "-o", graph)
    succeeds(capsys, "place", graph, "--devices", "2x10", "--source-rate", "1000")


def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "mesh.graph"
    file.write_text("2 1\n2 2\n1\n")
    line = refused(capsys, "import", file, "--from", "metis")
    assert line == f"streamplace: {file}: line 2: neighbour 2 appears twice"
