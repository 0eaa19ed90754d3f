"""Files are written whole or not at all."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.documents import GRAPH
from streamplace.errors import FormatError
from streamplace.files import write_dataset
from streamplace.files.atomic import atomic, write_text
from streamplace.files.graphs import graph_from
from streamplace.graph import StreamGraph


def write_half(target: str | Path, failure: type[BaseException]) -> None:
    """Begin to write, and fail."""
    with atomic(target) as file:
        file.write(b"half" * 100_000)
        raise failure


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_failure_in_the_middle_leaves_the_old_file(
    failure: type[BaseException], name: str, tmp_path: Path
) -> None:
    target = tmp_path / name
    target.write_text("old")
    with pytest.raises(failure):
        write_half(target, failure)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_graph_that_cannot_be_made_leaves_no_dataset(tmp_path: Path) -> None:
    def graphs() -> Iterator[StreamGraph]:
        yield graph_from(GRAPH, "x")
        raise FormatError("the second one is bad")

    with pytest.raises(FormatError, match="second"):
        write_dataset(tmp_path / "x.jsonl.gz", graphs())
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_seen_until_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    with atomic(target) as file:
        file.write(b"new")
        file.flush()
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_writes_nothing_to_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(RuntimeError):
        write_half("-", RuntimeError)
    assert capfdbinary.readouterr().out == b""


def test_gzip_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "same\n" * 1000)
    data = (tmp_path / "a.gz").read_bytes()
    assert data == (tmp_path / "b.gz").read_bytes()
    assert data[4:8] == bytes(4)  # no time
    assert gzip.decompress(data) == b"same\n" * 1000


def test_the_mask_for_new_files_holds(tmp_path: Path) -> None:
    """Temporary files are private; what is kept is as readable as any other file."""
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x.txt", "new")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "x.txt").stat().st_mode & 0o777 == 0o640


def test_text_that_is_no_text_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("old")
    with pytest.raises(ValueError, match="surrogates"):
        write_text(tmp_path / "x.txt", "\ud800")
    assert (tmp_path / "x.txt").read_text() == "old"
