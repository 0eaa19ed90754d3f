"""Parallel application of a function on worker processes, which may be killed."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from streamplace.errors import BackendError
from streamplace.execution import parallel
from streamplace.execution.parallel import each, each_when_known
from tests.support.cli import ENVIRONMENT
from tests.support.orphans import survivors

COUNT = 400
KILLED_AT = 250
MAIN = """
import sys
from tests.support.parallel_work import busy
from streamplace.execution.parallel import each
list(each(busy, [sys.argv[1]] * 64, 2))
"""
STARTING = """
import os, signal, sys
import numpy
from joblib.externals.loky.backend.popen_loky_posix import Popen
from streamplace.cli.entry import script
signal.signal(signal.SIGINT, signal.default_int_handler)
launch = Popen._launch
def interrupted(self, process):
    os.kill(os.getpid(), signal.SIGINT)
    launch(self, process)
Popen._launch = interrupted
sys.argv = ["streamplace", "generate", "dream", "--count", "300", "--jobs", "2", "-o", sys.argv[1]]
script()
"""

BLOCKED = """
from tests.support.parallel_work import blocks_ctrl_c
from streamplace.execution.parallel import each
print(all(each(blocks_ctrl_c, range(64), 2)))
"""


def killed_once(flag: Path, number: int) -> int:
    """Return the square; the first process that gets the number KILLED_AT kills itself."""
    if number == KILLED_AT and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def killed_always(number: int) -> int:
    """Return the square; every process that gets the number KILLED_AT kills itself."""
    if number == KILLED_AT:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def folder_of(_: int) -> str:
    """Return the current folder."""
    return os.getcwd()


def number_and_process(number: int) -> tuple[int, int]:
    """Return the number and the process that did so."""
    return number, os.getpid()


def test_work_of_a_killed_process_is_repeated(tmp_path: Path) -> None:
    flag = tmp_path / "killed"
    found = list(each(partial(killed_once, flag), range(COUNT), 2))
    assert flag.exists()
    assert found == [number**2 for number in range(COUNT)]


def test_items_in_any_order_are_each_done_once_though_a_process_is_killed(tmp_path: Path) -> None:
    flag = tmp_path / "killed"
    found = list(each_when_known(partial(killed_once, flag), range(COUNT), 2))
    assert flag.exists()
    assert sorted(found) == [(number, number**2) for number in range(COUNT)]


@pytest.mark.long
def test_work_that_kills_every_process_is_reported() -> None:
    found: list[int] = []
    with pytest.raises(BackendError, match="repeatedly killed at the same item"):
        found.extend(each(killed_always, range(COUNT), 2))


class Broken:
    """Items whose iteration fails."""

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        yield from range(KILLED_AT)
        raise BackendError("no more")


@pytest.mark.parametrize(
    ("start_s", "count", "here"), [(math.inf, COUNT, COUNT), (0.0, COUNT, 1), (0.0, 5, 1)]
)
def test_processes_start_once_work_has_taken_the_time_of_a_start(
    monkeypatch: pytest.MonkeyPatch, start_s: float, count: int, here: int
) -> None:
    """However few items there are, if they take longer."""
    monkeypatch.setattr(parallel, "START_S", start_s)
    monkeypatch.setattr(parallel, "cpu_count", lambda: 2)
    found = list(each(number_and_process, range(count)))
    assert [number for number, _ in found] == list(range(count))
    assert [number for number, process in found if process == os.getpid()] == list(range(here))


def test_processes_work_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joblib keeps processes between calls, and relative names of files are of the folder now."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        folders = {*each(folder_of, range(4), 2, items_per_process=1)}
        assert folders == {str(tmp_path / name)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_items_is_raised(jobs: int) -> None:
    with pytest.raises(BackendError, match="no more"):
        list(each(abs, Broken(), jobs))


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    words = [sys.executable, "-c", MAIN, str(tmp_path)]
    with subprocess.Popen(words, env=ENVIRONMENT, start_new_session=True) as process:
        until = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(survivors(process.pid, 0.0)) >= 3
        process.kill()
    assert survivors(process.pid, 10.0) == []


def test_processes_start_with_ctrl_c_blocked() -> None:
    """Without the block, worker processes would print a traceback at Ctrl-C."""
    words = [sys.executable, "-c", BLOCKED]
    run = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_ctrl_c_while_processes_start_takes_effect_afterwards(tmp_path: Path) -> None:
    """A Ctrl-C that arrives while processes start is not lost."""
    words = [sys.executable, "-c", STARTING, str(tmp_path / "graphs.jsonl")]
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.lstrip("\n") == "streamplace: interrupted; no incomplete file was left\n"
    assert list(tmp_path.iterdir()) == []


DROPPED = """
import threading
from streamplace.execution import parallel
def look_for(work):
    raise KeyError(work)
parallel._ignore_dropped_work()
for name in (parallel.JOBLIB_THREAD, "another"):
    thread = threading.Thread(target=look_for, args=(name,), name=name)
    thread.start()
    thread.join()
"""


def test_dropped_work_leaves_no_traceback() -> None:
    run = subprocess.run(
        [sys.executable, "-c", DROPPED], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert "KeyError: 'another'" in run.stderr
    assert "ExecutorManagerThread" not in run.stderr
