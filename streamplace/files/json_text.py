"""JSON text: indented values, lines read one by one, and checksums of lines."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.bounded import MAX_BYTES, read_failure, read_pieces, too_large
from streamplace.files.reading import not_utf8, parse, refuse_empty
from streamplace.files.writing import write_pieces

ROWS = 10_000
"""Objects of a list that are encoded at once; the whole text is never in memory."""
CHECKSUM = "sha256"  # the name of the value that holds it
CHECKSUM_DIGITS = 16
OPEN = ("{", "[", ",")
"""How the first line of an indented JSON value ends."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PLAIN = frozenset((str, int, float, bool, type(None)))
_text = json.JSONEncoder(ensure_ascii=False).encode


def to_json(value: Any) -> str:
    """Return a JSON value as indented text with a final newline."""
    return "".join(json_pieces(value))


def json_pieces(value: Any) -> Iterator[str]:
    """Yield the text of `to_json` piece by piece, so that it is never in memory as a whole.

    It is the text of `json.dumps` with ``indent=1``. The standard library indents in Python, and
    without indents encodes in C. An object that contains no others therefore is encoded in C, with
    the indents as a part of its separators; texts inside it cannot contain them, since their ends
    of lines are escaped. Keys of objects must be text.
    """
    yield from _pieces(value, "\n")
    yield "\n"


def _pieces(value: Any, end: str) -> Iterator[str]:
    """Yield the text of a value; `end` ends a line, and indents the next one as the value's."""
    within = end + " "
    if not isinstance(value, dict | list | tuple) or not value:
        yield _text(value)
    elif _is_flat(value):
        text = _encoded(value, within)
        yield f"{text[0]}{within}{text[1:-1]}{end}{text[-1]}"
    elif isinstance(value, dict):
        members = (
            chain((f"{_text(key)}: ",), _pieces(member, within)) for key, member in value.items()
        )
        yield from _joined("{", members, within, end + "}")
    else:
        yield from _joined("[", _items(value, within), within, end + "]")


def _joined(begin: str, members: Iterable[Iterable[str]], within: str, end: str) -> Iterator[str]:
    separator = begin + within
    for member in members:
        yield separator
        yield from member
        separator = "," + within
    yield end


def _items(values: Any, end: str) -> Iterator[Iterable[str]]:
    """Yield the pieces of the items of a list; objects without others, many as one item."""
    within = end + " "
    for flat, several in groupby(values, _is_flat_object):
        if not flat:
            yield from (_pieces(item, end) for item in several)
            continue
        while rows := list(islice(several, ROWS)):
            text = _encoded(rows, within)
            between = text[2:-2].replace(f"}},{within}{{", f"{end}}},{end}{{{within}")
            yield (f"{{{within}", between, f"{end}}}")


def _encoded(value: Any, within: str) -> str:
    """Return a text in which each member begins a line."""
    return json.dumps(value, ensure_ascii=False, separators=("," + within, ": "))


def _is_flat(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return _PLAIN.issuperset(map(type, members))


def _is_flat_object(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and _PLAIN.issuperset(map(type, value.values()))


def checksum(value: Mapping[str, Any]) -> str:
    """Return a checksum of the values of a line that a run appends, without its own."""
    return sha256(json.dumps(dict(value)).encode()).hexdigest()[:CHECKSUM_DIGITS]


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each line of a file that is not blank; gzip is unzipped.

    Raises
    ------
    FormatError
        If the file cannot be read, is empty, is not UTF-8, or has a line that is not JSON.
    """
    is_empty = True
    try:
        for each in json_lines(_decoded(_lines(read_pieces(path)), str(path)), str(path)):
            is_empty = False
            yield each
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{path}: {read_failure(error)}") from None
    if is_empty:
        refuse_empty("", str(path))


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
            if number == 1 and line.rstrip().endswith(OPEN):
                raise FormatError(f"{place}: must be a whole JSON value; one per line is expected")
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
            first = line if number == 1 else b""  # which says what the file is
            raise not_utf8(first, at, where) from None
        before += len(line) + 1


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON value as indented text in UTF-8."""
    write_pieces(path, json_pieces(value))
