"""The process that forks: what `forks.Forks` starts.

python -m benchmarks.hardening.forking MODULE …   requests on stdin, answers on stdout, JSON lines
"""

import atexit
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from benchmarks.hardening.forks import temporaries
from benchmarks.hardening.limits import Times, asleep_s, scheduled_s
from benchmarks.hardening.privileges import give_up
from streamplace.cli.main import script

LOOK_S = 0.0001
MOST_S = 10.0  # until what was killed is gone


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
        times, begin = Times(), time.monotonic()
        child = os.fork()
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
        status, hung, used, asleep = end_of(child, asked, begin, times)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "hung": hung,
            "seconds": time.monotonic() - begin,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak_bytes": used.ru_maxrss * 1024,
            "pid": child,
            "asleep_seconds": asleep,
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
        (0, os.devnull, os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # the old one has read ahead
    os.chdir(asked["folder"])
    if (most := asked["data_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if asked["closed"]:
        give_up()


def end_of(
    child: int, asked: dict[str, Any], begin: float, times: Times
) -> tuple[int, bool, Any, float]:
    """Wait for a process; return its status, whether it hung, what it used, how long it slept.

    Parameters
    ----------
    times
        Since it began: it was there while this process slept, and what this one waited for a
        processor, to see that it had ended, is not its sleep.
    """
    handle, hung = os.pidfd_open(child), False
    if asked["once"] is not None:
        _wait_for_temporary(handle, asked["once"], asked["nth"], begin + asked["limit_s"])
    if asked["after_s"] is not None and not _readable(handle, asked["after_s"]):
        (os.kill if asked["alone"] else os.killpg)(child, asked["number"])
    if not _readable(handle, begin + asked["limit_s"] - time.monotonic()):
        hung = True
        os.killpg(child, signal.SIGKILL)
        _readable(handle, MOST_S)
    (_, there), scheduled = times.since(), scheduled_s(child)  # it ended, and can still be asked
    os.close(handle)
    _, status, used = os.wait4(child, 0)
    asleep = asleep_s(there, used.ru_utime + used.ru_stime, scheduled)
    return status, hung, used, asleep


def _wait_for_temporary(handle: int, folder: str, nth: int, until: float) -> None:
    """Wait until the n-th new temporary turns up in a folder, or the process has ended."""
    before, seen = temporaries(folder), set[str]()
    while not _readable(handle, LOOK_S) and time.monotonic() < until:
        seen |= temporaries(folder) - before
        if len(seen) >= nth:
            return


def _readable(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], max(0.0, seconds))[0])


if __name__ == "__main__":
    serve()
