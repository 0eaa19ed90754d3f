"""Locks on folders, so that one process at a time writes into them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import check_folder, make_folder
from streamplace.files.locks import folder_handle, lock


@contextmanager
def held(path: str | Path) -> Iterator[Path]:
    """Hold a folder for this process alone; it is made where there is none.

    What was made for it and is empty at the end is taken away again. The folder itself is locked:
    nothing is left in it, and nothing is left locked by a process that was killed. Processes of
    other machines are kept out where the file system shares its locks.

    Raises
    ------
    FormatError
        If it cannot be made or written into, or another process holds it.
    """
    check_folder(path)
    folder = Path(path)
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    with ExitStack() as later:
        while not _holds(make_folder(folder), later):
            pass  # who held it before has taken it away
        for each in reversed(new):
            later.callback(_remove_empty, each)  # while it is held
        yield folder


def _holds(folder: Path, later: ExitStack) -> bool:
    """Lock a folder until later; return whether it is still there."""
    try:
        handle = folder_handle(folder)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be opened: {error.strerror}") from None
    later.callback(os.close, handle)
    if lock(handle) is False:
        raise FormatError(
            f"{folder}: another run of streamplace writes into it; wait, or name another folder"
        )
    try:
        return os.path.samestat(os.fstat(handle), folder.stat())
    except OSError:
        return False


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
