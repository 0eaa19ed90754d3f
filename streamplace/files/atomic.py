"""Files are written whole or not at all."""

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from streamplace.errors import FormatError

STDOUT = "-"


@contextmanager
def atomic(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    ``-`` is stdout, gathered first. A name ending in .gz is compressed, the same bytes every time.

    Raises
    ------
    FormatError
        If it cannot be written.
    """
    if str(path) == STDOUT:
        gathered = io.BytesIO()
        yield gathered
        sys.stdout.buffer.write(gathered.getvalue())
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]  # a binary file in all but its class
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file, or stdout for ``-``."""
    with atomic(path) as file:
        file.write(text.encode())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
