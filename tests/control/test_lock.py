"""The lock of a controller."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.control.lock import Lock
from streamplace.errors import FormatError, UsageError
from tests.support.cli import ENVIRONMENT

SERVER = "http://flink:8081"


HOLD = """
import sys, time
from streamplace.control.lock import Lock
with Lock("http://FLINK:8081/", "a1", sys.argv[1]) as lock:
    lock.follow("b2")
    print("locked", flush=True)
    time.sleep(60)
"""


def test_a_second_controller_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        for job in ("a1", "b2"):
            with pytest.raises(UsageError) as caught:
                Lock(SERVER, job, tmp_path)
            text = str(caught.value)
            assert text.startswith(f"job {job}: another controller on this machine controls it")
            assert f"(process {process.pid}, since 20" in text
        Lock(SERVER, "c3", tmp_path).release()
        with pytest.raises(UsageError, match="job a1: another controller"):
            Lock("http://127.0.0.1:8081", "a1", tmp_path)  # which may be the same server
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Lock(SERVER, "a1", tmp_path) as lock:
            lock.follow("b2")


def test_a_released_lock_can_be_taken(tmp_path: Path) -> None:
    with Lock(SERVER, "a1", tmp_path) as lock:
        lock.follow("a1")
        lock.follow("b2")
        with pytest.raises(UsageError, match=f"process {os.getpid()}, since "):
            Lock(SERVER, "b2", tmp_path)
    with Lock(SERVER, "b2", tmp_path):
        pass
    assert {path.stat().st_size for path in tmp_path.iterdir()} == {0}


def test_a_lock_that_is_followed_stays_young(tmp_path: Path) -> None:
    with Lock(SERVER, "a1", tmp_path) as lock:
        (path,) = tmp_path.iterdir()
        os.utime(path, (0, 0))
        lock.follow("a1")
        assert path.stat().st_mtime > 0


def test_a_refused_further_job_keeps_the_first_one_locked(tmp_path: Path) -> None:
    with Lock(SERVER, "a1", tmp_path), Lock(SERVER, "b2", tmp_path) as other:
        with pytest.raises(UsageError, match="job a1: another controller"):
            other.follow("a1")
        with pytest.raises(UsageError, match="job b2: another controller"):
            Lock(SERVER, "b2", tmp_path)


def test_a_text_of_another_process_is_not_needed(tmp_path: Path) -> None:
    with Lock(SERVER, "a1", tmp_path):
        (path,) = tmp_path.iterdir()
        path.write_text("[]")
        with pytest.raises(UsageError, match="controls it; stop that one first"):
            Lock(SERVER, "a1", tmp_path)


def test_the_default_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Lock(SERVER, "a1"):
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="belongs to another user"):
        Lock(SERVER, "a1")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    Lock(SERVER, "a1", tmp_path).release()
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(FormatError, match="cannot lock"):
        Lock(SERVER, "a1", tmp_path)
    assert not (tmp_path / "precious").exists()
