"""Datasets: folders, lists and JSON lines, compressed or not, released and shipped ones."""

import copy
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files import open_dataset, read_dataset, read_graph, write_dataset
from streamplace.files.datasets import resolve, shipped_folder
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.summary import summary
from streamplace.problem.graph import Operator, Stream, StreamGraph
from tests.corpus.documents import DREAM, GRAPH
from tests.support.released_data import DREAM as RELEASED
from tests.support.released_data import needs_dream

NAMELESS = {key: value for key, value in GRAPH.items() if key != "name"}
SEVERAL = [graph_from({**GRAPH, "name": f"g{i}"}, "x") for i in range(3)]


def names(path: str | Path) -> list[str]:
    """Return the names of a dataset's graphs."""
    return [graph.name for graph in read_dataset(path)]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_a_dataset_of_json_lines(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{ending}"
    write_dataset(path, iter(SEVERAL))
    assert read_dataset(path) == SEVERAL
    text = gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()
    assert text.count(b"\n") == 3


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json"])
def test_one_graph_of_many_by_its_name(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x:y{ending}"
    write_dataset(path, SEVERAL[:1] if ending == ".json" else SEVERAL)
    name = SEVERAL[0 if ending == ".json" else 2].name
    chosen = read_graph(f"{path}:{name}")
    assert chosen.name == name
    assert read_dataset(f"{path}:{name}") == [chosen]
    assert summary(f"{path}:{name}")["sha256"] == chosen.sha256
    with pytest.raises(FormatError, match="no graph is named 'h1'"):
        read_graph(f"{path}:h1")
    if ending != ".json":
        with pytest.raises(FormatError, match=f"and {path}:g0 is one of them"):
            read_graph(path)
    with pytest.raises(FormatError, match="no such file"):
        read_graph(tmp_path / "z.jsonl:g0")


def test_blank_lines_and_windows_line_ends_do_not_count(tmp_path: Path) -> None:
    lines = [json.dumps(graph_to(graph)) for graph in SEVERAL]
    (tmp_path / "x.jsonl").write_bytes("\r\n\r\n".join(["", *lines, ""]).encode())
    assert read_dataset(tmp_path / "x.jsonl") == SEVERAL


def test_a_line_separator_inside_a_name_does_not_end_a_line(tmp_path: Path) -> None:
    odd = graph_from({**GRAPH, "name": "a\u2028b\x85c"}, "x")
    write_dataset(tmp_path / "x.jsonl", [odd, odd])
    assert read_dataset(tmp_path / "x.jsonl") == [odd, odd]


def test_a_dataset_that_is_a_json_list(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([graph_to(graph) for graph in SEVERAL]))
    assert read_dataset(tmp_path / "x.json") == SEVERAL


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for number, ending in enumerate([".json", ".npz", ".jsonl", ".jsonl.gz"]):
        write_dataset(tmp_path / f"{9 - number}{ending}", [SEVERAL[number % 3]])
    (tmp_path / "README.md").write_text("not a graph")
    (tmp_path / "below").mkdir()
    assert names(tmp_path) == ["g0", "g2", "g1", "g0"]


def test_graphs_without_a_name_are_named_after_the_file(tmp_path: Path) -> None:
    text = json.dumps(NAMELESS)
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json").write_text(f"[{text}, {text}]")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(f"{text}\n{text}\n".encode()))
    assert names(tmp_path) == ["a", "b_0", "b_1", "c_0", "c_1"]


def test_an_empty_path_is_not_the_current_folder() -> None:
    for read in (read_dataset, open_dataset):
        with pytest.raises(FormatError, match=r"^'': no such file or folder$"):
            read("")


def test_gzip_is_recognised_by_its_bytes(tmp_path: Path) -> None:
    write_dataset(tmp_path / "x.jsonl.gz", SEVERAL)
    (tmp_path / "x.jsonl.gz").rename(tmp_path / "x.jsonl")
    assert read_dataset(tmp_path / "x.jsonl") == SEVERAL


def test_a_dataset_is_not_a_graph(tmp_path: Path) -> None:
    write_dataset(tmp_path / "x.jsonl", SEVERAL)
    with pytest.raises(FormatError, match=r"x\.jsonl: contains several"):
        read_graph(tmp_path / "x.jsonl")


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("count", [0, 2])
def test_json_and_npz_hold_one_graph(ending: str, count: int, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"x{ending}"):
        write_dataset(tmp_path / f"x{ending}", SEVERAL[:count])
    assert list(tmp_path.iterdir()) == []


def test_unknown_file_endings_are_refused_before_any_work(tmp_path: Path) -> None:
    def never() -> Iterator[StreamGraph]:
        pytest.fail("a graph was made")
        yield SEVERAL[0]

    with pytest.raises(FormatError, match=r"x\.csv: must end in"):
        write_dataset(tmp_path / "x.csv", never())
    assert list(tmp_path.iterdir()) == []


def test_shipped_graphs_are_found() -> None:
    graphs = read_dataset("dataset:real")
    assert len(graphs) >= 9
    assert all(graph.source_rate for graph in graphs)
    assert read_graph("dataset:real/riotbench-etl.json") in graphs


@pytest.mark.parametrize("name", ["../x", "../pyproject.toml", "real/../../x", "/etc/passwd", "no"])
def test_unknown_dataset_names_are_refused(name: str) -> None:
    with pytest.raises(FormatError, match=r": no such dataset; choose from .*real/"):
        resolve(f"dataset:{name}")


def test_a_link_out_of_the_shipped_folder_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "datasets"
    shutil.copytree(shipped_folder(), copy)
    (tmp_path / "secret.json").write_text("{}")
    (copy / "link.json").symlink_to(tmp_path / "secret.json")
    monkeypatch.setattr("streamplace.files.datasets.shipped_folder", lambda: copy)
    assert resolve("dataset:real").is_dir()
    with pytest.raises(FormatError, match="no such dataset"):
        resolve("dataset:link.json")


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_no_graphs_are_not_written(name: str, tmp_path: Path) -> None:
    """Reading refuses such a file."""
    with pytest.raises(FormatError, match="must hold at least one graph"):
        write_dataset(tmp_path / name, ())
    assert not [*tmp_path.iterdir()]


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
