"""JSON lines one by one: of however long a file, little more than a line is in memory."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.text import parse, told
from streamplace.raw import LARGEST, read_pieces, too_large

MARK = b"\xef\xbb\xbf"  # byte order


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for the lines of a file that are not blank; unzipped if it is gzip.

    Raises
    ------
    FormatError
        If it cannot be read, is not UTF-8, or a line is not JSON.
    """
    try:
        yield from _values(_lines(read_pieces(path)), str(path))
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{path}: {told(error)}") from None


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends, and what is after the last."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        parts.append(first)
        size = len(piece) if others else size + len(piece)
        if size > LARGEST:
            raise too_large()
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
