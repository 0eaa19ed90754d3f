"""Bytes of files and pipes, unzipped, up to a largest size."""

import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import IO

from streamplace.util.suggest import near_file

MAX_BYTES = 4 * 2**30
"""Largest file that is read, in bytes: about 20 million operators as JSON."""
SPARE = 4 * 2**20
"""Bytes to which even the smallest file may unzip."""
MAX_RATIO = 400
"""Largest allowed ratio of unzipped to zipped size, plus `SPARE` bytes.

Graphs unzip to 7 to 25 times their zipped size, one short graph repeated many times to 260 times,
and a decompression bomb to 1,000 times.
"""
PIECE = 2**18  # bytes read at once
GZIP = b"\x1f\x8b"


class RefusedError(OSError):
    """A file that streamplace refuses to read; `strerror` is the whole message."""


def read_raw(path: str | Path) -> bytes:
    """Return the content of a file or pipe.

    Raises
    ------
    OSError
        If it cannot be read, is a device file such as ``/dev/zero``, which may never end, or is
        larger than `MAX_BYTES`.
    ValueError
        If the name contains a NUL.
    """
    with open(os.fspath(path), "rb") as file:  # no number, which would be an open file
        status = os.fstat(file.fileno())
        if _is_device(status.st_mode) and not file.isatty():
            raise _a_device()
        if status.st_size > MAX_BYTES:
            raise too_large()
        return file.read() if stat.S_ISREG(status.st_mode) else read_stream(file)


def read_pieces(path: str | Path) -> Iterator[bytes]:
    """Yield the content of a file of any size in pieces, unzipped if it is gzip.

    Raises
    ------
    OSError, EOFError, zlib.error
        As `read_raw` and `unzipped` do, except for `MAX_BYTES`.
    """
    with open(os.fspath(path), "rb") as file:
        if _is_device(os.fstat(file.fileno()).st_mode):
            raise _a_device()
        if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
            yield from _pieces(file)
            return
        with gzip.GzipFile(fileobj=file) as zipped:
            size = 0
            for piece in _pieces(zipped):
                size += len(piece)
                refuse_bomb(size, file.tell(), max_bytes=inf)
                yield piece


def _pieces(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def read_stream(file: IO[bytes]) -> bytes:
    """Return the content of a file up to its end.

    Raises
    ------
    OSError
        If the content is more than `MAX_BYTES` bytes.
    """
    found = io.BytesIO()  # its getvalue() does not copy
    for piece in _pieces(file):
        if found.write(piece) and found.tell() > MAX_BYTES:
            raise too_large()
    return found.getvalue()


def unzipped(data: bytes) -> bytes:
    """Return gzip data unzipped.

    Raises
    ------
    OSError, EOFError, zlib.error
        If it is not gzip, or is a bomb. A bomb is refused as soon as the unzipped data exceed
        `MAX_RATIO` times the data read, plus `SPARE`.
    """
    found, zipped = io.BytesIO(), io.BytesIO(data)
    with gzip.GzipFile(fileobj=zipped) as file:
        for piece in _pieces(file):
            found.write(piece)
            refuse_bomb(found.tell(), zipped.tell())
    return found.getvalue()


def refuse_bomb(unzipped_bytes: int, zipped_bytes: int, max_bytes: float = MAX_BYTES) -> None:
    """Refuse data whose unzipped size exceeds `MAX_RATIO` times the zipped size, plus `SPARE`.

    Parameters
    ----------
    max_bytes
        Largest unzipped size in bytes, whatever the zipped size.

    Raises
    ------
    OSError
        If the data are refused.
    """
    if unzipped_bytes > min(SPARE + MAX_RATIO * zipped_bytes, max_bytes):
        sizes = f"{unzipped_bytes:,} bytes or more from {zipped_bytes:,}"
        raise RefusedError(errno.EFBIG, f"unzips to {sizes}, as a decompression bomb does")


def read_failure(error: Exception) -> str:
    """Return the message about an error that reading or unzipping a file raised."""
    if isinstance(error, FileNotFoundError):
        return "no such file" + near_file(error.filename or "")
    if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
        return f"broken gzip: {error}"
    reason = getattr(error, "strerror", None) or str(error)
    return reason if isinstance(error, RefusedError) else f"cannot read: {reason}"


def _is_device(mode: int) -> bool:
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _a_device() -> OSError:
    return RefusedError(errno.EINVAL, "is a device file, not a regular file")


def too_large() -> OSError:
    """Return the error about a file larger than `MAX_BYTES`."""
    return RefusedError(errno.EFBIG, f"is larger than {MAX_BYTES >> 30} GiB")
