"""What a process does besides reading, by the events that Python tells audit hooks."""

import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.hardening.forks import ROOT

RUNS = (
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile", "subprocess.Popen"),
    *("pty.spawn", "pickle.find_class", "os.kill", "os.putenv", "os.chdir", "os.fchdir"),
)
"""It executes something, or changes what the process is."""
CALLS = ("socket.connect", "socket.bind", "socket.send", "socket.getaddrinfo", "urllib.Request")
"""It speaks to somebody."""
TOUCHES = (
    *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.chflags"),
    *("shutil.", "tempfile."),
)
"""It changes what is on the disk; events of `os` are told of each function there is for it."""
OWN = (sys.prefix, sys.base_prefix, str(ROOT), "/proc/self/", "/proc/thread-self/")
"""Where files may be opened for reading besides: of Python, of the packages, of this process."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags with which a file is opened for more than reading."""


class Acts:
    """Hears what this process does; there is no way to stop a hook, so one of them is enough.

    Parameters
    ----------
    folder
        Where files may be opened for reading; see also `OWN`.
    """

    def __init__(self, folder: Path) -> None:
        self._readable = tuple(os.path.join(path, "") for path in (str(folder), *OWN))
        self._watched = False
        self._acts: list[str] = []
        sys.addaudithook(self._audit)

    @contextmanager
    def watched(self) -> Iterator[list[str]]:
        """Yield a list of what is done in the block."""
        self._acts = []
        self._watched = True
        try:
            yield self._acts
        finally:
            self._watched = False

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watched:
            return
        acts = event.startswith((*RUNS, *CALLS, *TOUCHES))
        if event == "open":
            acts = _writes(*arguments[:3]) or self._is_elsewhere(arguments[0])
        if acts and not _by_numba():
            self._acts.append(f"{event} {arguments!r:.100}")

    def _is_elsewhere(self, path: Any) -> bool:
        """Whether a file is none of those that may be opened."""
        if isinstance(path, int) or path == os.devnull:  # it is open already
            return False
        whole = os.path.join(os.path.abspath(os.fsdecode(path)), "")
        return not whole.startswith(self._readable)


def _writes(path: Any, mode: str | None, flags: int = 0) -> bool:
    """Whether `open`, which tells a mode and flags, or `os.open`, which tells flags, writes."""
    if path == os.devnull:
        return False
    return bool((mode or "")[:1] in ("w", "a", "x") or "+" in (mode or "") or flags & WRITING)


def _by_numba() -> bool:
    """Whether kernels that were compiled before are being loaded, from a folder that is tried."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "numba.core.caching":
            return True
        frame = frame.f_back
    return False
