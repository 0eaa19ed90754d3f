"""JSON lines, read one by one with about one line in memory."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.reading import MAX_BYTES, parse, read_failure, read_pieces, too_large

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each line of a file that is not blank; gzip is unzipped.

    Raises
    ------
    FormatError
        If the file cannot be read, is not UTF-8, or has a line that is not JSON.
    """
    try:
        yield from json_lines(_decoded(_lines(read_pieces(path)), str(path)), str(path))
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{path}: {read_failure(error)}") from None


def json_lines(lines: Iterable[str], where: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each line that is not blank.

    Raises
    ------
    FormatError
        If a line is not JSON.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{where}: line {number}"
            yield place, parse(line, place, is_line=True)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their line ends, and then the rest after the last line end."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        parts.append(first)
        size = len(piece) if others else size + len(piece)
        if size > MAX_BYTES:
            raise too_large()
        for other in others:
            yield b"".join(parts)
            parts = [other]
    yield b"".join(parts)


def _decoded(lines: Iterable[bytes], where: str) -> Iterator[str]:
    before = 0
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            has_mark = number == 1 and line.startswith(BYTE_ORDER_MARK)
            at = before + error.start + (len(BYTE_ORDER_MARK) if has_mark else 0)
            raise FormatError(f"{where}: byte {at} is not UTF-8") from None
        before += len(line) + 1
