"""Locks on jobs, so that only one controller on this machine changes a job."""

import json
import os
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Self

from streamplace.control.decisions import clock
from streamplace.errors import FormatError, UsageError
from streamplace.files.writing import lock, make_folder

# Of the text in a lock file, far above what a controller writes; the rest is not ours.
MOST_BYTES = 4096
PRIVATE = 0o700  # other users could otherwise replace a lock and let a second controller start


class Lock:
    """The locks of one controller on its job, also after restarts, which change the job's id.

    A lock is a locked file with the id of the process and the time when it took the lock. The
    operating system releases the locks of a killed process. Controllers of other users and on other
    machines are neither visible nor kept away.

    Parameters
    ----------
    server
        Address of the server that runs the job, only for the text of the file: a server may have
        several addresses, and ids of jobs are unique.
    job
        Its id.
    folder
        The folder of the files; default: a folder of this user for temporary files.

    Raises
    ------
    UsageError
        If another process holds the lock, or the folder belongs to another user.
    FormatError
        If the folder cannot be used, or its file system has no locks.
    """

    def __init__(self, server: str, job: str, folder: str | Path | None = None) -> None:
        self._server = server.strip().rstrip("/").lower()
        self._folder = _own_folder() if folder is None else make_folder(folder)
        self._handles: dict[str, int] = {}
        self.follow(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def follow(self, job: str) -> None:
        """Lock a further job, which a restart has started; the locks before are kept.

        For a job that is locked, renew the time of its file: old files in folders for temporary
        ones may be removed, and then two controllers would lock different files. Errors are those
        of the class.
        """
        if job in self._handles:
            with suppress(OSError):
                os.utime(self._handles[job])
            return
        path = self._folder / f"{self._code(job)}.lock"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise FormatError(f"{path}: cannot lock: {error.strerror}") from None
        try:
            self._take(handle, path, job)
        except BaseException:
            os.close(handle)
            raise
        self._handles[job] = handle

    def release(self) -> None:
        """Release all locks; the files stay, without text."""
        while self._handles:
            _, handle = self._handles.popitem()
            try:
                os.ftruncate(handle, 0)
            finally:
                os.close(handle)

    def _take(self, handle: int, path: Path, job: str) -> None:
        locked = lock(handle)
        if locked is None:
            raise FormatError(f"{path}: the file system has no locks; choose another folder")
        if not locked:
            raise UsageError(
                f"job {job}: another controller on this machine controls it{_holder(handle)}; "
                "stop that one first"
            )
        text = json.dumps({"pid": os.getpid(), "since": time.time(), "server": self._server})
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode(), 0)

    @staticmethod
    def _code(job: str) -> str:
        return sha256(job.encode()).hexdigest()[:32]


def _holder(handle: int) -> str:
    """Return the process that holds a lock, in words; empty if it has not written it yet."""
    try:
        value = json.loads(os.pread(handle, MOST_BYTES, 0))
        return f" (process {int(value['pid'])}, since {clock(float(value['since']))})"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return ""


def _own_folder() -> Path:
    """Return this user's folder of locks, which other users cannot write into."""
    folder = Path(tempfile.gettempdir()) / f"streamplace-{os.getuid()}"
    make_folder(folder)
    status = folder.lstat()
    if status.st_uid != os.getuid() or folder.is_symlink():
        raise UsageError(f"{folder}: belongs to another user; name another folder for locks")
    folder.chmod(PRIVATE)
    return folder
