"""Atomic writes: a file is written whole or not at all."""

import gzip
import io
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import IO
from zlib import crc32

from streamplace.errors import FormatError
from streamplace.files.bounded import STDIO
from streamplace.files.locks import folder_handle, lock

TEMPORARY = ".streamplace-"
_cleaned: set[Path] = set()


@contextmanager
def atomic(
    path: str | Path, verify: Callable[[bytes], object] | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    ``-`` is stdout, gathered first. A name ending in .gz is compressed, the same bytes every time.
    A link stays a link; pipes and devices are written to as they are. A file keeps its mode. Of
    several processes that write one file the last to end wins. What a process leaves behind that is
    killed while it writes has a name that nothing reads, and goes with the next write into its
    folder.

    Parameters
    ----------
    verify
        Is given what can be read back, before a file takes its name; it may raise.

    Raises
    ------
    FormatError
        If it cannot be written.
    """
    if not str(path) or "\0" in str(path):
        raise FormatError(f"{str(path)!r} is no name for a file")
    try:
        if str(path) == STDIO:
            with _gathered() as file:
                yield file
        elif Path(path).exists() and not Path(path).is_file():
            with open(path, "wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path)), verify) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror or error}") from None


def check_target(path: str | Path, make: bool = False) -> None:
    """Raise FormatError where a file could not be written: before the work, not after it.

    Parameters
    ----------
    make
        Whether folders that are missing will be made.
    """
    if str(path) == STDIO or "\0" in str(path):
        return
    target = Path(os.path.realpath(path))
    try:
        if Path(path).exists() and not (Path(path).is_file() or target.is_dir()):
            return  # a pipe or a device
        if target.is_dir():
            raise FormatError(f"{path}: cannot be written: is a folder")
        there = target if target.exists() else target.parent
        while make and not there.exists():
            there = there.parent
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None
    if there != target and not there.is_dir():
        message = f"{there} is no folder" if there.exists() else "no such folder"
        raise FormatError(f"{path}: cannot be written: {message}")
    folder = target.parent if there.is_file() else there  # a file is replaced, not opened
    if not os.access(there, os.W_OK) or not os.access(folder, os.W_OK):
        raise FormatError(f"{path}: cannot be written")


def check_folder(path: str | Path) -> None:
    """Raise FormatError where a folder could not be made, or nothing written into it."""
    there = Path(os.path.realpath(path))
    try:
        while not there.exists():
            there = there.parent
    except OSError as error:
        raise FormatError(f"{path}: cannot be made: {error.strerror}") from None
    if not there.is_dir():
        raise FormatError(f"{path}: cannot be made: {there} is no folder")
    if not os.access(there, os.W_OK):
        raise FormatError(f"{path}: cannot be written into")


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file, or stdout for ``-``."""
    write_pieces(path, (text,))


def write_pieces(path: str | Path, pieces: Iterable[str]) -> None:
    """Write a text file that is never in memory as a whole, or stdout for ``-``."""
    with atomic(path) as file:
        for piece in pieces:
            file.write(piece.encode())


def make_folder(path: str | Path) -> Path:
    """Make a folder where there is none, with those above it."""
    folder = Path(path)
    try:
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be made: {error.strerror}") from None
    for each in new:
        _sync(each.parent)
    return folder


@contextmanager
def _gathered() -> Iterator[IO[bytes]]:
    gathered = io.BytesIO()
    yield gathered
    sys.stdout.buffer.write(gathered.getvalue())
    sys.stdout.buffer.flush()


@contextmanager
def _replacing(
    target: Path, verify: Callable[[bytes], object] | None = None
) -> Iterator[IO[bytes]]:
    _remove_orphans(target.parent)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    with ExitStack() as later:
        temporary, raw = _made(target.parent, 0o666 if mode is None else 0o600, later)
        later.callback(os.close, os.dup(raw.fileno()))  # keeps the lock until it has its name
        with raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]  # a binary file in all but its class
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        if verify is not None:
            verify(temporary.read_bytes())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
        _sync(target.parent)


def _made(folder: Path, mode: int, later: ExitStack) -> tuple[Path, IO[bytes]]:
    """Open a new file and lock it, so that it is known to be written; it is removed later."""
    while True:
        temporary = folder / f"{TEMPORARY}{host()}-{secrets.token_hex(8)}"
        later.callback(temporary.unlink, missing_ok=True)  # told first: Ctrl-C comes at any time
        raw = os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
        lock(raw.fileno(), wait=True)
        if temporary.exists():
            return temporary, raw
        raw.close()  # taken for an orphan before it was locked


def _remove_orphans(folder: Path) -> None:
    """Remove what killed processes were writing: nobody holds its lock any more.

    Once for each folder, since all of its names are looked at; and of this host alone, since not
    every file system tells others of its locks.
    """
    if folder in _cleaned:
        return
    _cleaned.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            ours = entry.name.startswith(f"{TEMPORARY}{host()}-")
            if ours and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry.path, "rb") as found:
                    if lock(found.fileno()):
                        os.unlink(entry.path)


def host() -> str:
    """Return what tells the files of this host: its name may have any letters."""
    return f"{crc32(gethostname().encode()):08x}"


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk: a file that lost its name is lost."""
    with suppress(OSError):  # of file systems that cannot
        handle = folder_handle(folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
