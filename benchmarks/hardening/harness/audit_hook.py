"""Side effects of this process, as Python reports them to audit hooks."""

import inspect
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.hardening.harness.environment import ROOT

EXECUTIONS = (
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile", "subprocess.Popen"),
    *("pty.spawn", "pickle.find_class", "os.kill", "os.putenv", "os.chdir", "os.fchdir"),
)
"""Events of executing code or programs, or of changing the process itself."""
CONNECTIONS = (
    "socket.connect",
    "socket.bind",
    "socket.send",
    "socket.getaddrinfo",
    "urllib.Request",
)
"""Events of network access."""
DISK_CHANGES = (
    *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.chflags"),
    *("shutil.", "tempfile."),
)
"""Events of changes to the disk; `os` raises one event per function."""
READABLE = (sys.prefix, sys.base_prefix, str(ROOT), "/proc/self/", "/proc/thread-self/")
"""Folders of Python, its packages and this process, which a reader may always read."""
KERNEL_LOADERS = ("streamplace.sim.kernels.cache", "numba.core.serialize")
"""Modules that unpickle kernels and their constants, never the content of files of streamplace."""
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags that open a file for more than reading."""
UNRECORDED = "unrecorded"
"""Name of threads of the campaign itself, whose side effects are not recorded."""


class AuditHook:
    """A recorder of side effects; one per process, since a hook cannot be removed.

    Parameters
    ----------
    folder
        The folder in which files may be opened for reading, in addition to `READABLE`.
    """

    def __init__(self, folder: Path) -> None:
        self._readable = tuple(os.path.join(path, "") for path in (str(folder), *READABLE))
        self._recording = self._reads_anywhere = False
        self._effects: list[str] = []
        sys.addaudithook(self._audit)

    @contextmanager
    def recorded(self, reads_anywhere: bool = False) -> Iterator[list[str]]:
        """Yield a list that collects the side effects of the block.

        Parameters
        ----------
        reads_anywhere
            Whether the block may read files in any folder.
        """
        self._effects = []
        self._recording, self._reads_anywhere = True, reads_anywhere
        try:
            yield self._effects
        finally:
            self._recording = False

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._recording or threading.current_thread().name == UNRECORDED:
            return
        counts = event.startswith((*EXECUTIONS, *CONNECTIONS, *DISK_CHANGES))
        if event == "open":
            elsewhere = not self._reads_anywhere and self._is_elsewhere(arguments[0])
            counts = elsewhere or _writes(*arguments[:3])
        if counts and not _by_loader():
            self._effects.append(f"{event} {arguments!r:.100}")

    def _is_elsewhere(self, path: Any) -> bool:
        """Return whether a file is outside the folders that may be read."""
        if isinstance(path, int) or path == os.devnull:  # already open
            return False
        absolute = os.path.join(os.path.abspath(os.fsdecode(path)), "")
        return not absolute.startswith(self._readable)


def _writes(path: Any, mode: str | None, flags: int = 0) -> bool:
    """Return whether `open` (mode and flags) or `os.open` (flags) opens a file for writing."""
    if path == os.devnull:
        return False
    return bool((mode or "")[:1] in ("w", "a", "x") or "+" in (mode or "") or flags & WRITE_FLAGS)


def _by_loader() -> bool:
    """Return whether compiled kernels or their constants are being loaded.

    Where the package has none that fit, their folder is written to.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in KERNEL_LOADERS:
            return True
        frame = frame.f_back
    return False
