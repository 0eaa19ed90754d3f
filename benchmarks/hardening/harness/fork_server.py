"""The fork server, which `forks.Forks` starts: a process that forks one command line per request.

python -m benchmarks.hardening.harness.fork_server MODULE …

It imports the modules first. Requests come on stdin and answers go to stdout, as lines of JSON.
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

from benchmarks.hardening.harness.forks import temporaries
from benchmarks.hardening.harness.privileges import give_up
from benchmarks.hardening.harness.stopwatch import Stopwatch, asleep_s, scheduled_s
from streamplace.cli.main import script

POLL_S = 0.0001
KILL_LIMIT_S = 10.0  # for a killed process to disappear


def serve() -> None:
    """Answer the requests on stdin, one per line, until stdin ends."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # so that no collection touches, and thereby copies, shared pages
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        ready, begun = os.pipe()
        times, begin = Stopwatch(), time.monotonic()
        child = os.fork()
        if not child:
            answers.close()
            _set_up_child(asked)
            os.close(ready)
            os.close(begun)
            sys.argv = ["streamplace", *asked["arguments"]]
            try:
                script()
            except SystemExit as stopped:
                _leave(int(stopped.code or 0))
        os.close(begun)
        os.read(ready, 1)  # ends when the child has been set up
        os.close(ready)
        status, hung, used, asleep = wait_for_end(child, asked, begin, times)
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
    """End as an interpreter does, without the slow teardown of modules."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _set_up_child(asked: dict[str, Any]) -> None:
    """Make this process look as if a shell had started it."""
    os.setsid()
    # background processes of a shell ignore the signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # the old stdin has read ahead
    os.chdir(asked["folder"])
    if (most := asked["data_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if asked["closed"]:
        give_up()


def wait_for_end(
    child: int, asked: dict[str, Any], begin: float, times: Stopwatch
) -> tuple[int, bool, Any, float]:
    """Wait for a process; return its status, whether it hung, its resource use and its sleep.

    Parameters
    ----------
    times
        Started with the process. The child is at most as long asleep as this process; the time
        that this process waits for a processor is not sleep of the child.
    """
    handle, hung = os.pidfd_open(child), False
    if asked["once"] is not None:
        _wait_for_temporary(handle, asked["once"], asked["nth"], begin + asked["limit_s"])
    if asked["after_s"] is not None and not _readable(handle, asked["after_s"]):
        (os.kill if asked["alone"] else os.killpg)(child, asked["number"])
    if not _readable(handle, begin + asked["limit_s"] - time.monotonic()):
        hung = True
        os.killpg(child, signal.SIGKILL)
        _readable(handle, KILL_LIMIT_S)
    (_, there), scheduled = times.since(), scheduled_s(child)  # before it is reaped
    os.close(handle)
    _, status, used = os.wait4(child, 0)
    asleep = asleep_s(there, used.ru_utime + used.ru_stime, scheduled)
    return status, hung, used, asleep


def _wait_for_temporary(handle: int, folder: str, nth: int, until: float) -> None:
    """Wait for the n-th new temporary file in a folder, or for the end of the process."""
    before, seen = temporaries(folder), set[str]()
    while not _readable(handle, POLL_S) and time.monotonic() < until:
        seen |= temporaries(folder) - before
        if len(seen) >= nth:
            return


def _readable(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], max(0.0, seconds))[0])


if __name__ == "__main__":
    serve()
