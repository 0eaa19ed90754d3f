"""Graphs as .npz columns; a bad file raises FormatError, and nothing in it is executed."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamplace.errors import FormatError
from streamplace.files import read_graph, write_dataset
from streamplace.files.graphs import graph_from
from streamplace.problem.graph import StreamGraph
from tests.corpus.documents import GRAPH
from tests.support.errors import fault_of, result_or_error
from tests.support.strategies import full_graphs

Columns = dict[str, NDArray[Any]]
LARGE = {**GRAPH, "streams": [*GRAPH["streams"], {"source": "a", "target": "b"}]}
LARGE = {
    **LARGE,
    "source_shares": {"a": 1.0},
}  # three streams, so that the transposed array of ends has another shape


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("columns")
    write_dataset(made / "good.npz", [graph_from(LARGE, "x")])
    return made


@given(graph=full_graphs())
def test_round_trip_gives_the_same_graph_and_the_same_bytes(
    graph: StreamGraph, folder: Path
) -> None:
    write_dataset(folder / "a.npz", [graph])
    again = read_graph(folder / "a.npz")
    write_dataset(folder / "b.npz", [again])
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    assert again == graph


def spoil(folder: Path, change: Callable[[Columns], object]) -> Path:
    """Write valid columns with one change, and return the file."""
    with np.load(folder / "good.npz", allow_pickle=False) as stored:
        columns: Columns = {name: stored[name] for name in stored.files}
    change(columns)
    path = folder / "bad.npz"
    np.savez(path, **columns)  # type: ignore[arg-type]  # mypy applies the type of allow_pickle
    return path


def refused(path: Path) -> str:
    """Read a file that must be refused, and return the error."""
    with pytest.raises(FormatError) as caught:
        read_graph(path)
    fault_of(caught.value, path)
    return str(caught.value)


ADD_UP = "name_lengths: must add up to the length of names"
COLUMNS = (
    "header",
    "names",
    "name_lengths",
    "ends",
    "source_share",
    "instructions",
    "payload_bytes",
    "memory_bytes",
    "selectivity",
    "stream_payload_bytes",
)
NUMBERS = COLUMNS[4:]
MAY_BE_NAN = ("instructions", "payload_bytes", "selectivity", "stream_payload_bytes")


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_named(column: str, folder: Path) -> None:
    assert column in refused(spoil(folder, lambda columns: columns.pop(column)))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (column, value)
        for column in NUMBERS
        for value in (-1.0, np.nan, np.inf)
        if column not in MAY_BE_NAN or not np.isnan(value)
    ],
)
def test_impossible_numbers(column: str, value: float, folder: Path) -> None:
    def change(columns: Columns) -> None:
        columns[column] = np.array([value, *columns[column][1:]])

    refused(spoil(folder, change))


@pytest.mark.parametrize("column", NUMBERS)
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c[:-1],
        lambda c: np.append(c, 0.0),
        lambda c: c[:, None],
        lambda c: np.float64(1.0),
        lambda c: c.astype(str),
        lambda c: c.astype(complex),
        lambda c: np.zeros(len(c), dtype="M8[s]"),
        lambda c: np.zeros(len(c), dtype=[("x", float)]),
    ],
    ids=["short", "long", "2-D", "scalar", "text", "complex", "dates", "records"],
)
def test_columns_of_the_wrong_shape_or_kind(
    column: str, change: Callable[[Any], Any], folder: Path
) -> None:
    refused(spoil(folder, lambda columns: columns.update({column: change(columns[column])})))


@pytest.mark.parametrize(
    "ends",
    [
        np.array([[0, 1], [0, 2], [1, -1]]),
        np.array([[0, 1], [0, 2], [1, 3]]),
        np.array([[0, 1], [0, 2], [1, 2 + 2**32]]),
        np.array([[0, 1], [0, 2], [1, 1]]),
        np.array([[0, 1], [1, 2], [2, 0]]),
        np.array([[0, 0, 1], [1, 2, 2]]),
        np.array([0, 1, 0, 2, 1, 2]),
        np.array([[0, 1, 0, 2, 1, 2]]),
        np.array([[[0], [1]], [[0], [2]], [[1], [2]]]),
        np.array([[0, 1, 9], [0, 2, 9], [1, 2, 9]]),
        np.array([[0, 1], [0, 2], [1, 2.5]]),
        np.array([[0, 1], [0, 2], [1, np.nan]]),
        np.array([["0", "1"], ["0", "2"], ["1", "2"]]),
        np.array([[False, True], [False, True], [False, True]]),
    ],
    ids=[
        "negative",
        "too large",
        "wraps around",
        "self-loop",
        "cycle",
        "transposed",
        "flat",
        "one row",
        "3-D",
        "three ends",
        "fraction",
        "nan",
        "text",
        "booleans",
    ],
)
def test_invalid_ends_of_streams(ends: NDArray[Any], folder: Path) -> None:
    refused(spoil(folder, lambda columns: columns.update(ends=ends)))


@pytest.mark.parametrize(
    ("lengths", "names", "message"),
    [
        ([1, 1, 2], b"abc", ADD_UP),
        ([1, 1], b"abc", ADD_UP),
        ([1, 1, 1], b"abcd", ADD_UP),
        ([1, 1, 1], b"aba", "duplicate"),
        ([0, 1, 1], b"bc", "operators[0].name"),
        ([2, -1, 2], b"abc", ADD_UP),
        ([1.5, 0.5, 1.0], b"abc", "column 'name_lengths' must be int32 with 1 axis"),
        ([1, 1, 1], b"ab\xff", "names: is not UTF-8"),
        ([[1], [1], [1]], b"abc", "column 'name_lengths' must be int32 with 1 axis"),
    ],
    ids=[
        "too long",
        "too few",
        "left over",
        "repeated",
        "empty",
        "negative",
        "fractions",
        "not UTF-8",
        "deep",
    ],
)
def test_names_that_do_not_match_their_lengths(
    lengths: Any, names: bytes, message: str, folder: Path
) -> None:
    stored = np.array(lengths)
    stored = stored.astype(np.int32) if stored.dtype == np.int64 else stored
    changed = {"name_lengths": stored, "names": np.frombuffer(names, np.uint8)}
    assert message in refused(spoil(folder, lambda columns: columns.update(changed)))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "streamplace-graph-columns-2"},
        {"format": None},
        {"name": ["a"]},
        {"name": None},
        {"source_rate": "fast"},
        {"source_rate": 0},
        {"source_rate": float("nan")},
        {"requires": {"7": ["gpu"]}},
        {"requires": {"-1": ["gpu"]}},
        {"requires": {"a": ["gpu"]}},
        {"requires": {"0": "gpu"}},
        {"requires": {"0": [1]}},
        {"requires": {"0": [""]}},
        {"requires": ["gpu"]},
        {"constraints": {"colocated": []}},
        {"constraints": None},
    ],
    ids=str,
)
def test_headers_with_invalid_values(change: dict[str, Any], folder: Path) -> None:
    def spoil_header(columns: Columns) -> None:
        header = {**json.loads(columns["header"].tobytes()), **change}
        columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    refused(spoil(folder, spoil_header))


@pytest.mark.parametrize("header", [b"", b"{", b"[]", b"\xff", b"1", b'{"name": 1, "name": 1}'])
def test_invalid_headers(header: bytes, folder: Path) -> None:
    data = np.frombuffer(header, np.uint8)
    assert "line 1" not in refused(spoil(folder, lambda columns: columns.update(header=data)))


def test_shares_of_operators_that_are_not_sources(folder: Path) -> None:
    share = np.array([1.0, 0.5, 0.0])
    refused(spoil(folder, lambda columns: columns.update(source_share=share)))


class Bomb:
    """A pickle that runs a function when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_pickle_in_a_column_is_not_executed(column: str, folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    bomb = np.array([Bomb(mark)] * 3, dtype=object)
    refused(spoil(folder, lambda columns: columns.update({column: bomb})))
    assert not mark.exists()


def test_a_pickle_file_is_not_executed(tmp_path: Path) -> None:
    path, mark = tmp_path / "x.npz", tmp_path / "executed"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    refused(path)
    assert not mark.exists()


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_archive(share: float, folder: Path) -> None:
    whole = (folder / "good.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[: int(share * len(whole))])
    refused(folder / "cut.npz")


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(folder: Path, data: bytes) -> None:
    for start in (b"", b"PK\x03\x04", b"\x93NUMPY"):
        (folder / "garbage.npz").write_bytes(start + data)
        refused(folder / "garbage.npz")


@given(st.data())
def test_one_wrong_byte_is_detected_or_harmless(folder: Path, data: st.DataObject) -> None:
    whole = bytearray((folder / "good.npz").read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    (folder / "wrong.npz").write_bytes(whole)
    graph, message = result_or_error(read_graph, folder / "wrong.npz")
    assert "\n" not in message
    assert message or graph == read_graph(folder / "good.npz")


def test_archives_that_are_not_graphs_are_refused(folder: Path) -> None:
    with zipfile.ZipFile(folder / "zip.npz", "w") as archive:
        archive.writestr("header", "{}")
    refused(folder / "zip.npz")
    with (folder / "array.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    refused(folder / "array.npz")
