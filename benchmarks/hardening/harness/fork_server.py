"""The fork server that `forks.Forks` starts: it forks one child process per command line.

python -m benchmarks.hardening.harness.fork_server MODULE …

It imports the modules first. It reads requests from stdin and writes answers to stdout, both as
lines of JSON.
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
from streamplace.cli.main import script

POLL_S = 0.0001  # between two looks at a folder
KILL_LIMIT_S = 10.0  # the longest wait for a killed process to disappear


def serve() -> None:
    """Answer requests from stdin, one per line, until stdin ends."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # a collection would write to, and so copy, shared pages
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        setup_read, setup_write = os.pipe()  # the child closes both ends when it is set up
        begin = time.monotonic()
        child = os.fork()
        if not child:
            answers.close()
            _set_up_child(request)
            os.close(setup_read)
            os.close(setup_write)
            sys.argv = ["streamplace", *request["arguments"]]
            try:
                script()
            except SystemExit as stopped:
                _leave(int(stopped.code or 0))
        os.close(setup_write)
        os.read(setup_read, 1)  # returns when the child has closed its end
        os.close(setup_read)
        status, hung = wait_for_end(child, request, begin)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "hung": hung,
            "seconds": time.monotonic() - begin,
            "pid": child,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _leave(code: int) -> None:
    """End like an interpreter, but without the slow teardown of modules."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _set_up_child(request: dict[str, Any]) -> None:
    """Make this process look as if a shell had started it."""
    os.setsid()
    # a server in the background of a shell ignores the signal, and a child inherits that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, request["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # the inherited stdin has buffered later requests
    os.chdir(request["folder"])
    if (limit := request["data_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def wait_for_end(child: int, request: dict[str, Any], begin: float) -> tuple[int, bool]:
    """Wait for a process; return its status and whether it hung."""
    handle, hung = os.pidfd_open(child), False
    if request["once"] is not None:
        _wait_for_temporary(handle, request["once"], request["nth"], begin + request["limit_s"])
    if request["after_s"] is not None and not _readable(handle, request["after_s"]):
        (os.kill if request["alone"] else os.killpg)(child, request["signum"])
    if not _readable(handle, begin + request["limit_s"] - time.monotonic()):
        hung = True
        os.killpg(child, signal.SIGKILL)
        _readable(handle, KILL_LIMIT_S)
    os.close(handle)
    _, status = os.waitpid(child, 0)
    return status, hung


def _wait_for_temporary(handle: int, folder: str, nth: int, until: float) -> None:
    """Wait for the nth new temporary file in a folder, or for the end of the process."""
    before, observed = temporaries(folder), set[str]()
    while not _readable(handle, POLL_S) and time.monotonic() < until:
        observed |= temporaries(folder) - before
        if len(observed) >= nth:
            return


def _readable(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], max(0.0, seconds))[0])


if __name__ == "__main__":
    serve()
