"""File locks of the operating system, which end with the process that holds them."""

import fcntl
import os


def lock(handle: int, wait: bool = False) -> bool | None:
    """Lock the file or folder of a handle until the handle is closed.

    Parameters
    ----------
    wait
        Whether to wait until another process releases its lock.

    Returns
    -------
    locked
        False if another process holds the lock; None if the file system has no locks.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def folder_handle(path: str | os.PathLike[str]) -> int:
    """Open a folder, to lock it or to flush it to the disk."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
