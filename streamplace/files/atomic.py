"""Files are written whole or not at all."""

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from streamplace.errors import FormatError

STDOUT = "-"


@contextmanager
def atomic(
    path: str | Path, verify: Callable[[bytes], object] | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    ``-`` is stdout, gathered first. A name ending in .gz is compressed, the same bytes every time.
    A link stays a link; pipes and devices are written to as they are.

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
        if str(path) == STDOUT:
            with _gathered() as file:
                yield file
        elif (target := Path(os.path.realpath(path))).exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
        else:
            with _replacing(target, verify) as file:
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
    if str(path) == STDOUT or "\0" in str(path):
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FormatError(f"{path}: cannot be written: is a folder")
    there = target if target.exists() else target.parent
    while make and not there.exists():
        there = there.parent
    if there != target and not there.is_dir():
        said = f"{there} is no folder" if there.exists() else "no such folder"
        raise FormatError(f"{path}: cannot be written: {said}")
    if not os.access(there, os.W_OK):
        raise FormatError(f"{path}: cannot be written")


def check_folder(path: str | Path) -> None:
    """Raise FormatError where a folder could not be made, or nothing written into it."""
    there = Path(os.path.realpath(path))
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise FormatError(f"{path}: cannot be made: {there} is no folder")
    if not os.access(there, os.W_OK):
        raise FormatError(f"{path}: cannot be written into")


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file, or stdout for ``-``."""
    with atomic(path) as file:
        file.write(text.encode())


def make_folder(path: str | Path) -> Path:
    """Make a folder where there is none, with those above it."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be made: {error.strerror}") from None
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
    handle, temporary = tempfile.mkstemp(prefix=".streamplace-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]  # a binary file in all but its class
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        if verify is not None:
            verify(Path(temporary).read_bytes())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
