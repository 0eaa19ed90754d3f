"""Controllers in processes of their own, which SIGKILL ends at a point of their journal."""

import os
import signal
from collections.abc import Mapping
from enum import StrEnum
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from streamplace.control.journal import Journal
from streamplace.engines.flink.applying import asking
from tests.support.flink_actions import PAUSES, watched_at
from tests.support.flink_server.clock import NOON
from tests.support.flink_server.server import ScriptedFlink

WINDOWS = 8  # in which an overloaded job is restarted
TIMEOUT_S = 60.0
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


class Moment(StrEnum):
    """When a process is killed: before, while or after it writes a line of its journal."""

    BEFORE = "before"
    WHILE = "while"
    AFTER = "after"


class SharedClock:
    """Seconds since 1970, the same in several processes, which grow while one of them sleeps."""

    def __init__(self) -> None:
        self._now: Synchronized[float] = _CONTEXT.Value("d", NOON)

    def __call__(self) -> float:
        """Return the time."""
        return self._now.value

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        with self._now.get_lock():
            self._now.value += max(seconds, 0.0)


class DyingJournal(Journal):
    """A journal whose process is killed at one of the lines that it writes.

    Parameters
    ----------
    line
        Number of the line, from 0 on.
    """

    def __init__(self, path: Path, line: int, moment: Moment) -> None:
        self._left, self._moment = line, moment
        super().__init__(path)

    def _append(self, line: str) -> None:
        is_last = self._left == 0
        self._left -= 1
        if is_last and self._moment is Moment.BEFORE:
            _die()
        if is_last and self._moment is Moment.WHILE:
            data = line.encode()
            os.write(self._handle, data[: len(data) // 2])
            _die()
        super()._append(line)
        if is_last:
            _die()


def killed(
    flink: ScriptedFlink,
    clock: SharedClock,
    folder: Path,
    line: int,
    moment: Moment,
    how: Mapping[str, Any],
) -> bool:
    """Run a controller that is killed at a line of its journal.

    Parameters
    ----------
    how
        Further arguments of `watched_at`.

    Returns
    -------
    Whether it wrote so many lines within `WINDOWS` windows.
    """
    flink.clock = clock
    with flink.serving() as url:
        process = _CONTEXT.Process(target=_watch, args=(url, clock, folder, line, moment, how))
        process.start()
        process.join(TIMEOUT_S)
        if process.exitcode is None:
            process.kill()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def _watch(
    url: str,
    clock: SharedClock,
    folder: Path,
    line: int,
    moment: Moment,
    how: Mapping[str, Any],
) -> None:
    for name, seconds in PAUSES.items():
        setattr(asking, name, seconds)

    def journal(path: Path) -> Journal:
        return DyingJournal(path, line, moment)

    with watched_at(url, clock, folder, journal=journal, **how) as (watching, _):
        for _ in range(WINDOWS):
            watching.window()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
