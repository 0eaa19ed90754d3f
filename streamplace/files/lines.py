"""JSON lines one by one: of however long a file, little more than a line is in memory."""

import zlib
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any

from streamplace.errors import FormatError
from streamplace.files.text import parse

PIECE = 2**18
GZIP = b"\x1f\x8b"
MARK = b"\xef\xbb\xbf"  # byte order


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for the lines of a file that are not blank; unzipped if it is gzip.

    Raises
    ------
    FormatError
        If it cannot be read, is not UTF-8, or a line is not JSON.
    """
    try:
        with path.open("rb") as file:
            zipped = file.read(len(GZIP)) == GZIP
            file.seek(0)
            pieces = _pieces(GzipFile(fileobj=file) if zipped else file)  # type: ignore[arg-type]
            yield from _values(_lines(pieces), str(path))
    except (EOFError, zlib.error) as error:
        raise FormatError(f"{path}: broken gzip: {error}") from None
    except OSError as error:  # of gzip without an errno
        said = error.strerror or f"broken gzip: {error}"
        raise FormatError(f"{path}: {said}") from None


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends, and what is after the last."""
    parts: list[bytes] = []
    for piece in pieces:
        first, *others = piece.split(b"\n")
        parts.append(first)
        for other in others:
            yield b"".join(parts)
            parts = [other]
    yield b"".join(parts)


def _values(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, Any]]:
    before = 0
    for number, line in enumerate(lines, start=1):
        place = f"{where}: line {number}"
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            mark = len(MARK) if number == 1 and line.startswith(MARK) else 0
            raise FormatError(f"{where}: byte {before + mark + error.start} is not UTF-8") from None
        if text.strip():
            yield place, parse(text, place)
        before += len(line) + 1
