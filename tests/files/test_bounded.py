"""Bounded reads of files, pipes and gzip."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph
from streamplace.files.bounded import MAX_BYTES, MAX_RATIO, SPARE, read_raw, unzipped
from streamplace.files.reading import read_bytes


def test_device_files_are_refused() -> None:
    with pytest.raises(OSError, match="is a device"):
        read_raw("/dev/zero")
    with pytest.raises(FormatError, match=r"^/dev/null: is a device file, not a regular file$"):
        read_bytes("/dev/null")


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
