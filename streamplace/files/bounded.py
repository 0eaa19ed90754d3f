"""Bounded reads of files, pipes and compressed data."""

import errno
import gzip
import io
import os
import stat
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import IO

LARGEST = 4 * 2**30
"""Bytes of a file that are read: some 20 million operators as JSON."""
SPARE = 4 * 2**20
MOST_FOLD = 400
"""What is unzipped may be so many times what it was zipped, and `SPARE` more.

Graphs are 7 to 25 times as large as zipped, the same short one over and over 260 times; a bomb is
1,000 times.
"""
PIECE = 2**18
GZIP = b"\x1f\x8b"
STDIO = "-"
"""In place of a file's name: stdin where it is read, stdout where it is written."""


def read_raw(path: str | Path) -> bytes:
    """Return what is in a file or comes through a pipe.

    Raises
    ------
    OSError
        If it cannot be read, is a device such as ``/dev/zero``, which may never end, or holds more
        than `LARGEST`.
    ValueError
        If the name has a NUL in it.
    """
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        if _is_device(about.st_mode) and not file.isatty():
            raise _a_device()
        if about.st_size > LARGEST:
            raise too_large()
        return file.read() if stat.S_ISREG(about.st_mode) else read_stream(file)


def read_pieces(path: str | Path) -> Iterator[bytes]:
    """Yield what is in a file, unzipped if it is gzip, some at a time; of any size.

    Raises
    ------
    OSError, EOFError, zlib.error
        As `read_raw` and `unzipped` do, but for `LARGEST`.
    """
    with open(path, "rb") as file:
        if _is_device(os.fstat(file.fileno()).st_mode):
            raise _a_device()
        if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
            yield from _pieces(file)
            return
        with gzip.GzipFile(fileobj=file) as zipped:
            size = 0
            for piece in _pieces(zipped):
                size += len(piece)
                refuse_bomb(size, file.tell(), most=inf)
                yield piece


def _pieces(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def read_stream(file: IO[bytes]) -> bytes:
    """Return what comes until the end.

    Raises
    ------
    OSError
        If that is more than `LARGEST`.
    """
    found = io.BytesIO()  # whose value is no copy
    for piece in _pieces(file):
        if found.write(piece) and found.tell() > LARGEST:
            raise too_large()
    return found.getvalue()


def unzipped(data: bytes) -> bytes:
    """Return what gzip made the data of.

    Raises
    ------
    OSError, EOFError, zlib.error
        If it is no gzip, or a bomb: as soon as what is unzipped is more than `MOST_FOLD` times what
        it is made of, and `SPARE`.
    """
    found, zipped = io.BytesIO(), io.BytesIO(data)
    with gzip.GzipFile(fileobj=zipped) as file:
        for piece in _pieces(file):
            found.write(piece)
            refuse_bomb(found.tell(), zipped.tell())
    return found.getvalue()


def refuse_bomb(unzipped_bytes: int, zipped_bytes: int, most: float = LARGEST) -> None:
    """Refuse what would be more than `MOST_FOLD` times as large, and `SPARE`, unzipped.

    Parameters
    ----------
    most
        Bytes, however many it was zipped.

    Raises
    ------
    OSError
        If it would.
    """
    if unzipped_bytes > min(SPARE + MOST_FOLD * zipped_bytes, most):
        message = f"{unzipped_bytes:,} bytes or more from {zipped_bytes:,}"
        raise OSError(errno.EFBIG, f"unzips to {message}, as no file of graphs does")


def _is_device(mode: int) -> bool:
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _a_device() -> OSError:
    return OSError(errno.EINVAL, "is a device, and no file")


def too_large() -> OSError:
    """Return the fault of what is larger than `LARGEST`."""
    return OSError(errno.EFBIG, f"is larger than {LARGEST >> 30} GiB")
