"""Atomic writes, and the lock on a folder, held by one process at a time."""

import gzip
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files import read_dataset, write_dataset, writing
from streamplace.files.graphs import graph_from
from streamplace.files.writing import (
    TEMPORARY,
    atomic,
    folder_handle,
    held,
    host,
    lock,
    make_folder,
    staged,
    write_text,
)
from streamplace.problem.graph import StreamGraph
from tests.corpus.documents import GRAPH
from tests.support.cli import ENVIRONMENT


def write_half(target: str | Path, failure: type[BaseException]) -> None:
    """Write a part of a file, and fail."""
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


def test_a_failing_graph_leaves_no_dataset(tmp_path: Path) -> None:
    def graphs() -> Iterator[StreamGraph]:
        yield graph_from(GRAPH, "x")
        raise FormatError("the second one is bad")

    with pytest.raises(FormatError, match="second"):
        write_dataset(tmp_path / "x.jsonl.gz", graphs())
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_only_when_complete(tmp_path: Path) -> None:
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


def test_the_message_names_the_folder_that_is_missing_or_takes_no_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    meant = tmp_path / "folder"
    with pytest.raises(FormatError, match=rf"cannot write: no such folder; did you mean '{meant}'"):
        write_text(tmp_path / "foldr" / "p.json", "")
    with pytest.raises(FormatError, match=r"/proc takes no new files$"):
        write_text("/proc/p.json", "")
    with pytest.raises(FormatError, match=r"cannot create folder: none can be made there"):
        make_folder("/proc/a/b")


def test_gzip_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "same\n" * 1000)
    data = (tmp_path / "a.gz").read_bytes()
    assert data == (tmp_path / "b.gz").read_bytes()
    assert data[4:8] == bytes(4)  # no modification time
    assert gzip.decompress(data) == b"same\n" * 1000


def test_the_umask_applies_to_new_files(tmp_path: Path) -> None:
    """Temporary files are private; the final file is as readable as any other."""
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x.txt", "new")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "x.txt").stat().st_mode & 0o777 == 0o640


def test_bytes_of_file_names_are_escaped_as_in_json(tmp_path: Path) -> None:
    write_text(tmp_path / "x.json", '"g\udcff"')
    assert json.loads((tmp_path / "x.json").read_text()) == "g\udcff"


def test_the_next_write_removes_files_of_killed_processes(tmp_path: Path) -> None:
    """Only abandoned files are removed, not those that another process is writing."""
    orphan, foreign = tmp_path / f"{TEMPORARY}{host()}-0", tmp_path / ".other-0"
    elsewhere = tmp_path / f"{TEMPORARY}00000000-0"  # of another host, whose locks may be invisible
    orphan.write_text("half")
    foreign.write_text("somebody's")
    elsewhere.write_text("half")
    with atomic(tmp_path / "a.txt") as file:
        file.write(b"a")
        write_text(tmp_path / "b.txt", "b")
        assert not orphan.exists()
        assert len(list(tmp_path.glob(f"{TEMPORARY}*"))) == 2
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.txt", "b.txt", foreign.name, elsewhere.name}


def test_files_of_killed_processes_are_not_read_as_graphs(tmp_path: Path) -> None:
    write_dataset(tmp_path / "x.jsonl", [graph_from(GRAPH, "x")])
    (tmp_path / f"{TEMPORARY}0123").write_text('{"operators": [')
    assert len(read_dataset(tmp_path)) == 1


def test_a_temporary_file_that_was_removed_as_an_orphan_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may remove a temporary file between its creation and its lock."""
    removed: list[str] = []

    def late(handle: int, wait: bool = False) -> bool | None:
        if not removed:
            removed.extend(path.name for path in tmp_path.iterdir())
            (tmp_path / removed[0]).unlink()
        return lock(handle, wait)

    monkeypatch.setattr("streamplace.files.writing.lock", late)
    write_text(tmp_path / "x.txt", "new")
    assert removed
    assert (tmp_path / "x.txt").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    """The permissions of a replaced file are kept."""
    (tmp_path / "x.txt").write_text("old")
    (tmp_path / "x.txt").chmod(mode)
    write_text(tmp_path / "x.txt", "new")
    assert (tmp_path / "x.txt").stat().st_mode & 0o777 == mode


def test_a_file_is_flushed_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is flushed before it is renamed, and the folder after it, in case of a power cut."""
    synced: list[tuple[bool, bool]] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        real(handle)
        folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append((folder, (tmp_path / "x.txt").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "x.txt", "new")
    assert synced == [(False, False), (True, True)]


def test_a_new_folder_is_flushed_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    make_folder(tmp_path / "a" / "b")
    assert sorted(synced) == sorted([tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino])


HOLD = """
import sys, time
from streamplace.files.writing import held
with held(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_only_one_process_holds_a_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with (
        held(run),
        pytest.raises(FormatError, match="another run of streamplace is writing"),
        held(run),
    ):
        pass
    with held(tmp_path / "run"):
        pass


def test_a_killed_process_holds_no_lock(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLD, str(tmp_path / "run")]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(FormatError, match="another run"), held(tmp_path / "run"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        with held(tmp_path / "run"):
            pass


def test_empty_folders_created_for_the_lock_are_removed(tmp_path: Path) -> None:
    with held(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path / "a" / "b") as folder:
        (folder / "x").touch()
    with held(tmp_path / "a" / "b"), pytest.raises(FormatError), held(tmp_path / "a" / "b"):
        pass
    assert (tmp_path / "a" / "b" / "x").exists()
    (tmp_path / "existing").mkdir()
    with held(tmp_path / "existing"):
        pass
    assert (tmp_path / "existing").exists()


def test_paths_that_cannot_be_folders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "x", tmp_path / ("n" * 300)):
        with pytest.raises(FormatError, match="cannot create folder"), held(path):
            pass


def test_a_stage_that_another_process_takes_for_an_orphan_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str | os.PathLike[str]] = []

    def found_by_another(path: str | os.PathLike[str]) -> int:
        if Path(path).name.startswith(TEMPORARY) and not removed:
            removed.append(path)
            shutil.rmtree(path)
        return folder_handle(path)

    monkeypatch.setattr(writing, "folder_handle", found_by_another)
    with staged(tmp_path) as stage:
        write_text(stage / "a", "1")
    assert len(removed) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_one_process_at_a_time_moves_its_files_into_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = []
    replace = Path.replace

    def watched(file: Path, target: Path) -> Path:
        handle = folder_handle(tmp_path)
        others.append(lock(handle))
        os.close(handle)
        return replace(file, target)

    with staged(tmp_path) as stage:
        for name in "ab":
            write_text(stage / name, "1")
        monkeypatch.setattr(Path, "replace", watched)
    assert others == [False, False]


def test_files_move_into_a_folder_that_this_process_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process does not wait for its own lock."""

    def at_once(handle: int, wait: bool = False) -> bool | None:
        assert lock(handle) is not False or not wait, "would wait for ever"
        return True

    monkeypatch.setattr(writing, "lock", at_once)
    with held(tmp_path / "out") as folder, staged(folder) as stage:
        write_text(stage / "a", "1")
    assert (tmp_path / "out" / "a").read_text() == "1"
