"""Bounded reads: files, pipes, gzip, and archives of arrays with false headers."""

import gzip
import io
import os
import struct
import threading
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph
from streamplace.files.bounded import MAX_BYTES, MAX_RATIO, SPARE, read_pieces, read_raw, unzipped
from streamplace.files.npz import read_arrays
from streamplace.files.reading import read_bytes


def test_device_files_are_refused() -> None:
    with pytest.raises(OSError, match="is a device"):
        read_raw("/dev/zero")
    with pytest.raises(FormatError, match=r"^/dev/null: is a device file, not a regular file$"):
        read_bytes("/dev/null")


def test_a_number_is_no_path() -> None:
    """`open` would read the file that has this number, such as stdin."""
    number: Any = 0
    with pytest.raises(TypeError, match="not int"):
        read_raw(number)
    with pytest.raises(TypeError, match="not int"):
        next(read_pieces(number))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"x" * 300_000,))
    writer.start()
    assert read_raw(pipe) == b"x" * 300_000
    writer.join()


def test_a_sparse_file_of_a_tebibyte_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "sparse.json").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FormatError, match="is larger than 4 GiB"):
        read_graph(tmp_path / "sparse.json")
    assert MAX_BYTES == 4 * 2**30


@pytest.mark.parametrize("text", [b"\0", b"[],", b" "])
def test_bombs_are_refused_while_they_unzip(text: bytes) -> None:
    member = gzip.compress(text * (2**24 // len(text)))
    with pytest.raises(OSError, match=r"unzips to \d+,\d{3},\d{3} bytes or more"):
        unzipped(member * 640)  # only a few MiB of 10 GiB are unzipped


def test_smaller_compression_ratios_are_accepted() -> None:
    equal = b"".join(b'{"name": "op%d", "instructions": 9e4}, ' % i for i in range(200_000))
    for data in (b"a" * SPARE, equal, b""):
        assert unzipped(gzip.compress(data)) == data
    assert len(equal) / len(gzip.compress(equal)) < MAX_RATIO


def test_the_message_names_a_decompression_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(bytes(2**24)))
    with pytest.raises(FormatError, match=r"bomb.jsonl.gz: unzips to"):
        read_graph(path)


def npy(header: str, data: bytes = b"") -> bytes:
    """Return the bytes of an .npy file with this header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(*members: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    """Return the bytes of an archive with these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


def header(shape: str, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def test_arrays_are_read() -> None:
    saved = {"a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.eye(3)), "c": np.zeros(0)}
    for save in (np.savez, np.savez_compressed):
        made = io.BytesIO()
        save(made, **saved)  # type: ignore[arg-type]  # numpy types its own flag as one of them
        found = read_arrays(made.getvalue())
        assert list(found) == list(saved)
        for name, array in saved.items():
            assert np.array_equal(found[name], array)
            assert found[name].dtype == array.dtype


@pytest.mark.parametrize(
    "shape", ["(1000000000000,)", "(2, 3000000000)", "(9223372036854775807, 9)", "(2,)"]
)
def test_a_shape_larger_than_the_data(shape: str) -> None:
    """Memory is allocated only if the archive holds as many numbers as the header promises."""
    with pytest.raises(ValueError, match=r"an array of shape .* cannot have 8 bytes"):
        read_arrays(npz(("a.npy", npy(header(shape), bytes(8)))))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9000,
        "{" * 9000,
        "{'a': 1}",
        "[1if 1else 2]",
        "",
        header("(1,)", "'|O'"),
        header("(-1,)"),
        "'''",
        "{\n",
    ],
)
def test_invalid_headers(text: str) -> None:
    with pytest.raises(ValueError, match=r"^an array's header is not one that numpy writes"):
        read_arrays(npz(("a.npy", npy(text, bytes(8)))))


def test_a_decompression_bomb_is_refused() -> None:
    bomb = npz(("a.npy", bytes(2**26)), kind=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="unzips to"):
        read_arrays(bomb)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_repeated_name_is_refused() -> None:
    array = npy(header("(1,)"), bytes(8))
    with pytest.raises(ValueError, match="two arrays have the same name"):
        read_arrays(npz(("a.npy", array), ("a.npy", array)))


def test_threads_do_not_change_warning_filters() -> None:
    made = io.BytesIO()
    np.savez(made, a=np.zeros(3))
    before = warnings.filters[:]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read_arrays, [made.getvalue()] * 400))
    assert warnings.filters == before
