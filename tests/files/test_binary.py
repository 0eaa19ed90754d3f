"""Binary files, given where text is expected."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from streamplace import Operator, StreamGraph
from streamplace.errors import FormatError
from streamplace.files import (
    read_cluster,
    read_constraints,
    read_dataset,
    read_graph,
    write_dataset,
)
from streamplace.files.binary import KINDS
from tests.support.cli import Capture, refused


@pytest.mark.parametrize(("begin", "what"), KINDS, ids=[what for _, what in KINDS])
def test_a_binary_file_is_named(begin: bytes, what: str, tmp_path: Path) -> None:
    content = begin + b"\x00\xff" * 20
    for name in ("file.json", "file.jsonl"):
        (tmp_path / name).write_bytes(gzip.compress(content))
    for read, name in (
        (read_graph, "file.json"),
        (read_cluster, "file.json"),
        (read_constraints, "file.json"),
        (read_dataset, "file.jsonl"),
    ):
        with pytest.raises(FormatError) as caught:
            read(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: {what}; text is expected"


def test_an_unknown_binary_file(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\x01\x00\xff")
    assert refused(capsys, "place", file).endswith("file: is a binary file; text is expected")


@pytest.mark.parametrize(
    ("content", "what"),
    [("{}".encode("utf-16-le"), "is UTF-16; save it as UTF-8"), (b"\0" * 9, "is a binary file")],
)
def test_null_bytes_are_valid_utf_8_but_no_text(
    content: bytes, what: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "file.json").write_bytes(content)
    assert f"file.json: {what}" in refused(capsys, "info", tmp_path / "file.json")


def test_text_in_another_encoding_is_no_binary_file(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("operator,instructions\nzählen,3\n", encoding="latin-1")
    graph = tmp_path / "job.dot"
    graph.write_text("digraph { a -> b }")
    line = refused(capsys, "import", graph, "--from", "dot", "--costs", file)
    assert line.endswith("costs.csv: byte 23 is not UTF-8; save it as UTF-8")
    graph.write_text("digraph { zähler -> b }", encoding="latin-1")
    line = refused(capsys, "import", graph, "--from", "dot")
    assert line.endswith("job.dot: byte 11 is not UTF-8; save it as UTF-8")


def test_a_later_line_does_not_say_what_a_file_is(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    write_dataset(file, [StreamGraph([Operator("a", 1, 1)])])
    with file.open("ab") as more:
        more.write(b"\xff\xd8\xff, as a picture begins")
    with pytest.raises(FormatError, match=r"byte \d+ is not UTF-8; save it as UTF-8$"):
        read_dataset(file)


def test_arrays_and_weights_are_named(tmp_path: Path, capsys: Capture) -> None:
    arrays = io.BytesIO()
    np.savez(arrays, a=np.ones(3))
    file = tmp_path / "arrays.json"
    file.write_bytes(arrays.getvalue())
    line = refused(capsys, "explain", file)
    assert "an .npz file of arrays; text is expected, or a graph or placement whose name" in line
    head = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    file.write_bytes((200 + len(head)).to_bytes(8, "little") + head + b"\xff" * 204)
    assert "is a file of weights (safetensors); text is expected" in refused(
        capsys, "diff", file, file
    )
