"""Indented JSON text, which equals that of the standard library."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import Recipe, compare, write_dataset
from streamplace.errors import FormatError
from streamplace.files import bounded, datasets, iter_graphs, json_text, open_dataset, read_dataset
from streamplace.files.datasets import StoredGraphs
from streamplace.files.json_text import json_lines, json_pieces, read_json_lines, to_json
from streamplace.files.reading import read_text

PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(["},\n  {", "},{", "{", "]"]),
)
OBJECTS = st.dictionaries(st.text(max_size=3), PLAIN, max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAIN,
    lambda within: st.one_of(
        st.lists(within, max_size=4),
        st.lists(OBJECTS, max_size=4),
        st.dictionaries(st.text(max_size=3), within, max_size=4),
        st.tuples(within, OBJECTS),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_the_text_is_that_of_the_standard_library(value: Any) -> None:
    assert to_json(value) == json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def test_a_long_list_of_objects_is_encoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"rows": [{"a": i, "b": "},\n  {"} for i in range(7)]}
    at_once = [*json_pieces(value)]
    monkeypatch.setattr(json_text, "ROWS", 2)
    assert len([*json_pieces(value)]) > len(at_once)
    assert to_json(value) == json.dumps(value, indent=1) + "\n"


GRAPHS = [Recipe("dream", 12).graph(number) for number in range(12)]
ENDS = st.lists(st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\xc2\x85\n"]), max_size=8)
LINES = st.lists(
    st.sampled_from([b'{"a": 1}', b"[2]", b'"\xe2\x80\xa8"', b"", b"\xff", b"[", b"\xef\xbb\xbf"]),
    max_size=8,
)


def values_or_error(read: object) -> object:
    """Return the values, or the text of the error."""
    try:
        return list(read())  # type: ignore[operator]
    except FormatError as error:
        return str(error)


@given(LINES, ENDS, st.booleans(), st.integers(1, 9))
def test_reading_line_by_line_equals_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], ends: list[bytes], zipped: bool,
    piece: int,
) -> None:  # fmt: skip
    data = b"".join(text + end for text, end in zip(texts, [*ends, *[b"\n"] * 8], strict=False))
    path = tmp_path_factory.mktemp("lines") / "some.jsonl"
    path.write_bytes(gzip.compress(data) if zipped else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "PIECE", piece)
        found = values_or_error(lambda: read_json_lines(path))
    at_once = values_or_error(lambda: json_lines(read_text(path).split("\n"), str(path)))
    if isinstance(at_once, str) and "UTF-8" in at_once and isinstance(found, str):
        return  # line by line, an error in an earlier line is found first
    assert found == at_once


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_are_counted_from_the_start_of_the_file(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(mark + b"1\n22\n3\xff\n")
    with pytest.raises(FormatError, match=f"byte {6 + len(mark)} is not UTF-8"):
        list(read_json_lines(path))
    path.write_bytes(mark + b"1\xff\n")
    with pytest.raises(FormatError, match=f"byte {1 + len(mark)} is not UTF-8"):
        list(read_json_lines(path))


def test_broken_gzip_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl.gz"
    write_dataset(path, GRAPHS)
    whole = path.read_bytes()
    for end in (3, 12, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:end])
        with pytest.raises(FormatError, match=r"graphs\.jsonl\.gz: broken gzip"):
            list(read_json_lines(path))
    path.write_bytes(whole[:-8] + bytes(8))
    with pytest.raises(FormatError, match=r"graphs\.jsonl\.gz: broken gzip"):
        list(read_json_lines(path))


def test_stored_graphs_can_be_iterated_repeatedly(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl.gz"
    write_dataset(path, GRAPHS)
    stored = open_dataset(path)
    assert isinstance(stored, StoredGraphs)
    for _ in range(2):
        assert [graph.sha256 for graph in stored] == [graph.sha256 for graph in GRAPHS]
    assert len(stored) == len(GRAPHS)
    found, expected = (compare(graphs, "greedy", 1e4) for graphs in (stored, read_dataset(path)))
    assert found.cases == expected.cases
    assert (found.values == expected.values).all()


@pytest.mark.parametrize("change", ["fewer", "others", "gone"])
def test_a_dataset_that_changes_after_opening_is_refused(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "KEPT_GRAPHS", 0)
    monkeypatch.setattr(datasets, "KEPT_OPERATORS", 0)
    path = tmp_path / "graphs.jsonl"
    write_dataset(path, GRAPHS)
    stored = open_dataset(path)
    if change == "gone":
        path.unlink()
    else:
        write_dataset(path, GRAPHS[:5] if change == "fewer" else GRAPHS[::-1])
    with pytest.raises(FormatError, match=r"graphs\.jsonl"):
        compare(stored, "single")


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("\n")
    with pytest.raises(FormatError, match="is empty"):
        open_dataset(tmp_path / "none.jsonl")


@pytest.mark.long
def test_a_decompression_bomb_of_empty_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 2**26, 9))
    with pytest.raises(FormatError, match="unzips to"):
        list(iter_graphs(path))


def test_a_device_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zero.jsonl"
    path.symlink_to("/dev/zero")
    with pytest.raises(FormatError, match="is a device"):
        list(iter_graphs(path))


def test_a_small_dataset_is_kept_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    write_dataset(path, GRAPHS)
    stored = open_dataset(path)
    path.unlink()
    assert list(stored) == GRAPHS
