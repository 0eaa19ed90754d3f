"""Graphs in the format of the released DREAM benchmark."""

import copy
import gzip
import json
from pathlib import Path

from benchmarks.hardening.corpus.documents import DREAM
from streamplace.files import read_dataset, write_dataset
from streamplace.files.graphs import graph_from
from streamplace.problem.graph import Operator, Stream
from tests.support.released_data import DREAM as RELEASED
from tests.support.released_data import needs_dream


def test_units_and_names() -> None:
    graph = graph_from(DREAM, "x")
    assert graph.name == "graph_0"
    assert graph.source_rate == 10_000.0
    assert graph.operators[0] == Operator("op_0", 10_000.0, 25_000.0)  # 0.2 Mbit
    assert graph.operators[1] == Operator("op_1", 20_000.0, 12_500.0)
    assert list(graph.streams) == [
        Stream("op_0", "op_1", 0.5, 25_000.0),
        Stream("op_1", "op_2", 1.0, 12_500.0),
    ]


def test_indices_are_names_not_positions() -> None:
    shuffled = copy.deepcopy(DREAM)
    for operator, idx in zip(shuffled["operators"], (7, -2, 40), strict=True):
        operator["idx"] = idx
    for connection, (a, b) in zip(shuffled["connections"], ((7, -2), (-2, 40)), strict=True):
        connection.update(from_vertex=a, to_vertex=b)
    assert graph_from(shuffled, "x") == graph_from(DREAM, "x")


def test_rates_follow_from_selectivities_not_from_stored_weights() -> None:
    other = copy.deepcopy(DREAM)
    for row in (*other["operators"], *other["connections"]):
        row["weight"] = 99.0
    assert graph_from(other, "x") == graph_from(DREAM, "x")


def test_released_graphs_are_read_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DREAM))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(DREAM).encode()))
    write_dataset(tmp_path / "c.json", [graph_from(DREAM, "x")])
    assert read_dataset(tmp_path) == [graph_from(DREAM, "x")] * 3


@needs_dream
def test_the_released_dataset() -> None:
    graphs = read_dataset(RELEASED)
    assert len(graphs) == 2520
    assert {graph.source_rate for graph in graphs} == {10_000.0}
    sizes = [len(graph.names) for graph in graphs]
    assert (min(sizes), max(sizes)) == (4, 27)
    assert len({graph.name for graph in graphs}) == 2520
    assert all(len(graph.sources) == 1 for graph in graphs)
    line = gzip.decompress(RELEASED.read_bytes()).split(b"\n", 1)[0]
    assert graph_from(json.loads(line), "x") == graphs[0]
