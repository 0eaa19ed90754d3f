"""Files read as checked JSON values; every error is one line with the file and the place."""

import csv
import errno
import gc
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamplace.errors import FormatError
from streamplace.files.bounded import (
    GZIP,
    STDIO,
    RefusedError,
    read_failure,
    read_raw,
    read_stream,
    unzipped,
)
from streamplace.files.form_faults import first_fault
from streamplace.files.json_faults import syntax_fault
from streamplace.files.schema import ForeignForm
from streamplace.files.schema_fields import Place

OURS = "streamplace-"
"""How the ``format`` of a file of streamplace begins."""
Form = TypeVar("Form", bound=BaseModel)

MAX_SHOWN = 40  # characters of a value
PARTS = 2**14  # parts of JSON text, of tens of bytes each, that are written at once


def read_bytes(path: str | Path) -> bytes:
    """Return a file's bytes, unzipped if it is gzip; ``-`` is stdin.

    Devices, files larger than 4 GiB and decompression bombs are refused; see `bounded`.

    Raises
    ------
    FormatError
        If the file cannot be read; the message names it.
    """
    where = name_of(path)
    try:
        data = _stdin() if str(path) == STDIO else read_raw(path)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise FormatError(f"{where}: {read_failure(error)}") from None
    if data.startswith(GZIP):
        try:
            data = unzipped(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"{where}: {read_failure(error)}") from None
    return data


def read_text(path: str | Path) -> str:
    """Return a file's text, UTF-8 with or without a byte order mark."""
    return decode(read_bytes(path), name_of(path))


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: byte {error.start} is not UTF-8") from None


def name_of(path: str | Path) -> str:
    """Return the name of a file in messages."""
    return "stdin" if str(path) == STDIO else str(path)


def parse(text: str, where: str, *, is_line: bool = False) -> Any:
    """Parse JSON, refusing duplicate keys.

    Parameters
    ----------
    is_line
        Whether the text is one line of a file; `where` then names the line.

    Raises
    ------
    FormatError
        If it is not JSON; the message names the line and the column.
    """
    if not text.strip():
        raise FormatError(f"{where}: is empty")
    try:
        with _no_collections():
            return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise FormatError(f"{where}: {syntax_fault(error, is_line=is_line)}") from None
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None
    except _DuplicateKeyError as error:
        raise FormatError(f"{where}: {error}") from None
    except ValueError:  # Python's limit on digits
        raise FormatError(f"{where}: an integer has too many digits") from None


@contextmanager
def _no_collections() -> Iterator[None]:
    """Suspend garbage collections.

    JSON contains no cycles to collect, and collections would take three quarters of the time in
    which a large file is parsed.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_json(path: str | Path) -> Any:
    """Read one JSON file."""
    return parse(read_text(path), name_of(path))


def to_json(value: Any) -> str:
    """Return a JSON value as indented text with a final newline."""
    return "".join(json_pieces(value))


def json_pieces(value: Any) -> Iterator[str]:
    """Yield the text of `to_json` piece by piece, so that it is never in memory as a whole."""
    parts = json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(value)
    while batch := list(islice(parts, PARTS)):
        yield "".join(batch)
    yield "\n"


def to_csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in chain([header], map(list, rows)):
        # readers end a line at a lone carriage return, but the writer does not quote it
        has_return = any("\r" in cell for cell in row if isinstance(cell, str))
        (quoted if has_return else writer).writerow(row)
    return text.getvalue()


def check(
    form: type[Form], value: Any, where: str, origin: Callable[[Place], Place] | None = None
) -> Form:
    """Validate a JSON value against one of the forms.

    Parameters
    ----------
    origin
        Function from a place in the value to the place in the file, if they differ.

    Raises
    ------
    FormatError
        If the value does not match; the message names the first fault and its place in the file.
    """
    if not isinstance(value, dict):
        raise FormatError(f"{where}: must be an object (got {_kind(value)})")
    wanted = form.model_fields["format"].default if "format" in form.model_fields else None
    if wanted and value.get("format", wanted) != wanted:
        kind = wanted.removeprefix(OURS)
        raise FormatError(f"{where}: format: expected a {kind} file (got {value['format']!r:.80})")
    if issubclass(form, ForeignForm) and str(value.get("format")).startswith(OURS):
        kind = str(value["format"]).removeprefix(OURS)
        raise FormatError(f"{where}: is a {kind} of streamplace; only other formats need an import")
    try:
        return form.model_validate(value)
    except ValidationError as error:
        toml = where.endswith(".toml")
        fault = first_fault(error, form, origin=origin, toml=toml)
        raise FormatError(f"{where}: {fault}") from None


class _DuplicateKeyError(ValueError):
    """A key appears twice in one object."""


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise RefusedError(errno.EBADF, "is closed")
    return read_stream(sys.stdin.buffer)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        key, value = pairs[0]
        first = f"{key!r}: {value!r:.{MAX_SHOWN}}"
        message = f"key {twice!r} appears twice in the object that begins with {first}"
        raise _DuplicateKeyError(message)
    return found


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
