"""The lock on a folder, held by one process at a time."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files.folder_lock import held
from tests.support.cli import ENVIRONMENT

HOLD = """
import sys, time
from streamplace.files.folder_lock import held
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
