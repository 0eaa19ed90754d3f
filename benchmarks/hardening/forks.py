"""Processes of the command line that start at once: forks of one that has imported it.

A fork is a process like any other, with its own memory, files, limits and exit code; it only
saves the second that the imports take. The one that forks has a single thread.
"""

import atexit
import gc
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from streamplace.cli.main import script
from streamplace.files.atomic import TEMPORARY

ROOT = Path(__file__).resolve().parents[2]
LOOK_S = 0.0001


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Parameters
    ----------
    code
        The exit code; the signal, negative, where one ended it.
    hung
        Whether it had to be killed since it took longer than it may.
    seconds, cpu_seconds
        Wall and CPU time.
    peak_bytes
        The most memory that it had at once, what it shares with its parent included.
    pid
        Of it, of its group, and of the session that its children are in.
    """

    out: str
    err: str
    code: int
    hung: bool
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    pid: int


class Forks:
    """A process that starts command lines, one after the other; ended by ``with``.

    Parameters
    ----------
    environment
        Variables besides those of this process.
    modules
        To import before the first fork, besides the command line.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, modules: tuple[str, ...] = ()
    ) -> None:
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
        self._modules = modules
        self._folder = tempfile.TemporaryDirectory(prefix="streamplace-forks-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Forks":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.hardening.forks", *self._modules],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.communicate()  # it ends with its stdin
        self._folder.cleanup()

    def run(
        self,
        *arguments: object,
        folder: Path | None = None,
        stdin: Path | None = None,
        number: int = signal.SIGKILL,
        after_s: float | None = None,
        once: Path | None = None,
        nth: int = 1,
        alone: bool = False,
        limit_s: float = 60.0,
        file_bytes: int | None = None,
    ) -> Ended:
        """Run the command line to its end.

        Parameters
        ----------
        folder
            To be in.
        number, after_s
            The signal that it gets after so long, if it still runs, with all of its group.
        once, nth
            A folder; the time begins when the n-th temporary turns up in it.
        alone
            Its children do not get the signal.
        limit_s
            After which it is killed and counts as hung.
        file_bytes
            The most that a file may hold: a disk that is full.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, err = (Path(self._folder.name) / name for name in ("out", "err"))
        asked = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder or ROOT),
            "stdin": os.devnull if stdin is None else str(stdin),
            "out": str(out),
            "err": str(err),
            "number": int(number),
            "after_s": after_s,
            "once": None if once is None else str(once),
            "nth": nth,
            "alone": alone,
            "limit_s": limit_s,
            "file_bytes": file_bytes,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that forks has ended")
        told = json.loads(line)
        return Ended(out.read_text(errors="replace"), err.read_text(errors="replace"), **told)


def serve() -> None:
    """Answer requests on stdin, a line each, until there are no more."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what forks share is not looked at, and so not copied, when they end
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        ready, begun = os.pipe()
        begin, child = time.monotonic(), os.fork()
        if not child:
            answers.close()
            _become(asked)
            os.close(ready)
            os.close(begun)
            sys.argv = ["streamplace", *asked["arguments"]]
            try:
                script()
            except SystemExit as stopped:
                _leave(int(stopped.code or 0))
        os.close(begun)
        os.read(ready, 1)  # comes to its end when the child is on its own
        os.close(ready)
        status, hung, used = _end_of(child, asked, begin)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "hung": hung,
            "seconds": time.monotonic() - begin,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak_bytes": used.ru_maxrss * 1024,
            "pid": child,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _leave(code: int) -> None:
    """End as an interpreter does, but for taking its modules apart, which takes longest."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _become(asked: dict[str, Any]) -> None:
    """Be a process as a shell would have started it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what runs behind a shell
    for number, path, flags in (
        (0, asked["stdin"], os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # the old one has read ahead
    os.chdir(asked["folder"])
    if (most := asked["file_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _end_of(child: int, asked: dict[str, Any], begin: float) -> tuple[int, bool, Any]:
    """Wait for a process; return its status, whether it hung, and what it used."""
    handle, hung = os.pidfd_open(child), False
    if asked["once"] is not None:
        _wait_for_temporary(handle, asked["once"], asked["nth"], begin + asked["limit_s"])
    if asked["after_s"] is not None and not _readable(handle, asked["after_s"]):
        (os.kill if asked["alone"] else os.killpg)(child, asked["number"])
    if not _readable(handle, begin + asked["limit_s"] - time.monotonic()):
        hung = True
        os.killpg(child, signal.SIGKILL)
    os.close(handle)
    _, status, used = os.wait4(child, 0)
    return status, hung, used


def _wait_for_temporary(handle: int, folder: str, nth: int, until: float) -> None:
    """Wait until the n-th new temporary turns up in a folder, or the process has ended."""
    before, seen = temporaries(folder), set[str]()
    while not _readable(handle, LOOK_S) and time.monotonic() < until:
        seen |= temporaries(folder) - before
        if len(seen) >= nth:
            return


def temporaries(folder: str | Path) -> set[str]:
    """Return the names in a folder of what is being written, or never came to its end."""
    try:
        return {name for name in os.listdir(folder) if name.startswith(TEMPORARY)}
    except FileNotFoundError:
        return set()


def _readable(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], max(0.0, seconds))[0])


if __name__ == "__main__":
    serve()
