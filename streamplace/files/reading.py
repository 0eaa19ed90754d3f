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
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamplace.errors import Fault, FormatError
from streamplace.files.binary import ZIP, fault_of_bytes, fault_of_zip
from streamplace.files.bounded import (
    GZIP,
    RefusedError,
    read_failure,
    read_raw,
    read_stream,
    unzipped,
)
from streamplace.files.foreign import OURS, remedy_of_text, remedy_of_value, what_is
from streamplace.files.form_faults import listed_faults, syntax_fault
from streamplace.files.own import EXPECTED, fault_of_lines, kind_of, other_kind
from streamplace.files.schema import ForeignForm
from streamplace.files.schema_fields import Place, without_units
from streamplace.util.suggest import closest_match

STDIO = "-"
"""The file name that stands for stdin when reading and for stdout when writing."""
ONE_STDIN = "only one input can be -"
GENERAL = {"name", "version", "comment"}
"""Fields that files of other programs have, too."""
Form = TypeVar("Form", bound=BaseModel)
MAX_SHOWN = 40  # characters of a value


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
    """Return the text of a file that is not empty, UTF-8 with or without a byte order mark."""
    text = decode(read_bytes(path), name_of(path))
    refuse_empty(text, name_of(path))
    return text


def refuse_empty(content: str | bytes, where: str) -> None:
    """Refuse the content of a file if it is empty or blank."""
    if not content or content.isspace():
        raise FormatError(f"{where}: is empty")


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    if data.startswith(ZIP):  # a small archive may be UTF-8, too
        raise FormatError(f"{where}: {fault_of_zip(data)}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(data, error.start, where) from None
    if "\0" in text[:4]:
        raise not_utf8(data, text.index("\0"), where)
    return text


def not_utf8(data: bytes, at: int, where: str) -> FormatError:
    """Return the error about data of which the byte `at` is not UTF-8."""
    fault = f"byte {at} is not UTF-8; save it as UTF-8"
    if b"\0" in data:
        fault = remedy_of_text(where) or "is a binary file; text is expected"
    return FormatError(f"{where}: {fault_of_bytes(data) or fault}")


def name_of(path: str | Path) -> str:
    """Return the name of a file in messages."""
    return "stdin" if str(path) == STDIO else str(path)


def folder_of(path: str | Path) -> Path:
    """Return the folder to which paths in a file are relative: the current one for a pipe."""
    is_pipe = str(path) == STDIO or (Path(path).exists() and not Path(path).is_file())
    return Path() if is_pipe else Path(path).parent


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
    refuse_empty(text, where)
    try:
        with _no_collections():
            return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        remedy = "" if is_line else remedy_of_text(where, text)
        fault = remedy or fault_of_lines(error) or syntax_fault(error, is_line=is_line)
        raise FormatError(f"{where}: {fault}") from None
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


def separator_fault(header: Sequence[str]) -> str:
    """Return what is wrong if no commas separate the columns of a CSV file, else no text."""
    for separator, plural in ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")):
        if len(header) == 1 and separator in header[0]:
            return f"columns are separated by {plural}; separate them by commas"
    return ""


def check(
    form: type[Form], value: Any, where: str, origin: Callable[[Place], Place] | None = None
) -> Form:
    """Validate a JSON value against one of the forms.

    Numbers may have units, such as ``"8GB"``, where the names of their fields have one.

    Parameters
    ----------
    origin
        Function from a place in the value to the place in the file, if they differ.

    Raises
    ------
    FormatError
        If the value does not match; the message names the faults and their places in the file.
    """
    if not isinstance(value, dict):
        fault = f"must be an object (got {_kind(value)})"
        if isinstance(value, list) and not issubclass(form, ForeignForm):
            fault = remedy_of_value(value, where) or fault
        raise FormatError(Fault(fault, where))
    wanted = form.model_fields["format"].default if "format" in form.model_fields else None
    got = value.get("format", wanted)
    if got != wanted and str(got).startswith(OURS):
        fault = what_is(str(got)) if issubclass(form, ForeignForm) else other_kind(form, value)
        raise FormatError(Fault(fault, where))
    if wanted and got != wanted:
        expected = f"expected a {wanted.removeprefix(OURS)} file (got {got!r:.80})"
        raise FormatError(Fault(expected, where, option="format"))
    try:
        return form.model_validate(value)
    except ValidationError as error:
        plain = without_units(value, error)
        if plain is not value:
            return check(form, plain, where, origin)
        is_foreign = issubclass(form, ForeignForm)  # so that its import is what runs
        faults = (
            ("" if is_foreign else remedy_of_value(value, where))
            or _another_kind(form, value, wanted)
            or listed_faults(error, form, origin=origin, toml=where.endswith(".toml"))
        )
        raise FormatError(Fault(faults, where)) from None


def _another_kind(form: type[BaseModel], value: dict[str, Any], wanted: str | None) -> str:
    """Return that an object has nothing of the kind of file; empty if it has, or names it."""
    if (form.model_fields.keys() - GENERAL) & value.keys():
        return ""
    if form.__name__ in EXPECTED and kind_of(value):
        return other_kind(form, value)
    required = [name for name, field in form.model_fields.items() if field.is_required()]
    if not (wanted and required):
        return ""
    if any(closest_match(name, tuple(value)) for name in required):  # misspelt
        return ""
    kind, missing = wanted.removeprefix(OURS), " and ".join(map(repr, ("format", *required)))
    remedy = f"'streamplace schema {kind}' prints what belongs there"
    if kind == "placement":
        remedy += ', or {"assignment": {"OPERATOR": "DEVICE"}} is enough beside its graph'
    if kind == "graph":
        remedy += ", and 'streamplace import --help' lists the formats of other programs"
    return f"is not a {kind} file of streamplace: it lacks {missing}; {remedy}"


_emptied: list[Any] = []  # the stdin that was read to its end


class _DuplicateKeyError(ValueError):
    """A key appears twice in one object."""


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise RefusedError(errno.EBADF, "is closed")
    if sys.stdin in _emptied:
        raise RefusedError(errno.EBADF, ONE_STDIN)
    found = read_stream(sys.stdin.buffer)
    _emptied[:] = [sys.stdin]
    return found


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
