"""Locks on folders, so that only one process at a time writes into a folder."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import check_folder, folder_handle, lock, make_folder


@contextmanager
def held(path: str | Path) -> Iterator[Path]:
    """Lock a folder for this process, and create it if it does not exist.

    Folders that were created for the lock and are still empty at the end are removed. The folder
    itself is locked, so no lock file is left in it, and a killed process leaves nothing locked.
    Processes on other machines are excluded if the file system shares its locks.

    Raises
    ------
    FormatError
        If the folder cannot be created or written into, or another process holds it.
    """
    check_folder(path)
    folder = Path(path)
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    with ExitStack() as later:
        while not _holds(make_folder(folder), later):
            pass  # the process that held it before has removed it
        for each in reversed(new):
            later.callback(_remove_empty, each)  # before the lock is released
        yield folder


def _holds(folder: Path, later: ExitStack) -> bool:
    """Lock a folder until `later` is closed; return whether it still exists."""
    try:
        handle = folder_handle(folder)
    except OSError as error:
        raise FormatError(f"{folder}: cannot open folder: {error.strerror}") from None
    later.callback(os.close, handle)
    if lock(handle) is False:
        raise FormatError(
            f"{folder}: another run of streamplace is writing into this folder; "
            "wait, or choose another folder"
        )
    try:
        return os.path.samestat(os.fstat(handle), folder.stat())
    except OSError:
        return False


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
