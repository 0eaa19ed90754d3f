"""Locks of the operating system: each dies with the process that holds it, however that ends."""

import os
import sys

if sys.platform != "win32":
    import fcntl


def lock(handle: int, wait: bool = False) -> bool | None:
    """Lock the file or folder that a handle is of, until the handle is closed.

    Parameters
    ----------
    wait
        For whoever holds it now.

    Returns
    -------
    locked
        False where somebody else holds it; None where the file system knows no locks.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True
    return None


def folder_handle(path: str | os.PathLike[str]) -> int | None:
    """Open a folder; None where the system opens none."""
    if sys.platform != "win32":
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    return None
