"""Processes that work for another: they end with it, and it is told when one of them is killed."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from benchmarks.hardening.orphans import left
from streamplace.errors import BackendError
from streamplace.parallel import each
from tests.cli.command import ENVIRONMENT

ITEMS = 64
MAIN = """
import sys
from tests.test_parallel import busy
from streamplace.parallel import each
list(each(busy, [sys.argv[1]] * 64, 2))
"""


def killed_at(number: int, *, last: int) -> int:
    """Return the number; be killed at the last."""
    if number == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def busy(folder: str) -> None:
    """Leave a sign, and go on for long."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


def test_a_process_that_is_killed() -> None:
    with pytest.raises(BackendError, match="one of the processes was killed"):
        list(each(partial(killed_at, last=40), range(ITEMS), 2))
    assert list(each(partial(killed_at, last=-1), range(ITEMS), 2)) == [*range(ITEMS)]


def test_they_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    words = [sys.executable, "-c", MAIN, str(tmp_path)]
    with subprocess.Popen(words, env=ENVIRONMENT, start_new_session=True) as process:
        until = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(left(process.pid, 0.0)) >= 3
        process.kill()
    assert left(process.pid, 10.0) == []
