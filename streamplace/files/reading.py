"""Reading of files into checked JSON values; every fault is one line with file and place."""

import csv
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamplace.errors import FormatError
from streamplace.files.bounded import GZIP, STDIO, read_raw, read_stream, unzipped
from streamplace.files.schema_fields import Place, fields_at, without_tags
from streamplace.util.suggest import closest_match, did_you_mean

Form = TypeVar("Form", bound=BaseModel)

MESSAGES = {  # pydantic's words where ours fit a file better
    "missing": "is missing",
    "extra_forbidden": "is an unknown field",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "string_unicode": "is no valid unicode text",
    "string_too_short": "is empty",
    "float_type": "must be a number",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "finite_number": "must be a finite number",
}
LONGEST_SHOWN = 40
PARTS = 2**14  # of JSON text written at once; tens of bytes each


def read_bytes(path: str | Path) -> bytes:
    """Return a file's bytes, unzipped if it is gzip; ``-`` is stdin.

    Not of devices, of more than 4 GiB, or of gzip that bursts; see `raw`.

    Raises
    ------
    FormatError
        Naming the file.
    """
    where = name_of(path)
    try:
        data = _stdin() if str(path) == STDIO else read_raw(path)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise FormatError(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    if data.startswith(GZIP):
        try:
            data = unzipped(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"{where}: {escaped(error)}") from None
    return data


def escaped(error: Exception) -> str:
    """Return what to say of a file that cannot be read or unzipped."""
    return getattr(error, "strerror", None) or f"broken gzip: {error}"


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
    """Return what a file is called in messages."""
    return "stdin" if str(path) == STDIO else str(path)


def parse(text: str, where: str) -> Any:
    """Parse JSON, refusing duplicate keys."""
    if not text.strip():
        raise FormatError(f"{where}: is empty")
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise FormatError(f"{where}: not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None
    except _DuplicateKeyError as error:
        raise FormatError(f"{where}: {error}") from None
    except ValueError:  # Python's limit on digits
        raise FormatError(f"{where}: an integer has too many digits") from None


def read_json(path: str | Path) -> Any:
    """Read one JSON file."""
    return parse(read_text(path), name_of(path))


def to_json(value: Any) -> str:
    """Return a JSON value for people: indented, with a final newline."""
    return "".join(json_pieces(value))


def json_pieces(value: Any) -> Iterator[str]:
    """Yield the text of `to_json` piece by piece: that of a large graph is not whole in memory."""
    parts = json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(value)
    while several := list(islice(parts, PARTS)):
        yield "".join(several)
    yield "\n"


def to_csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in chain([header], map(list, rows)):
        # a lone carriage return ends a line for readers, but not for the writer
        broken = any("\r" in cell for cell in row if isinstance(cell, str))
        (quoted if broken else writer).writerow(row)
    return text.getvalue()


def check(
    form: type[Form], value: Any, where: str, origin: Callable[[Place], Place] | None = None
) -> Form:
    """Validate a JSON value against one of the forms.

    Parameters
    ----------
    origin
        Returns the place in the file for a place in the value, where they differ.

    Raises
    ------
    FormatError
        On the first fault, with its place in the file.
    """
    if not isinstance(value, dict):
        raise FormatError(f"{where}: must be an object, not {_kind(value)}")
    wanted = form.model_fields["format"].default if "format" in form.model_fields else None
    if wanted and value.get("format", wanted) != wanted:
        raise FormatError(f"{where}: format: must be {wanted!r} (got {value['format']!r:.80})")
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise FormatError(f"{where}: {first_fault(error, form, origin=origin)}") from None


def first_fault(
    error: ValidationError,
    form: type[BaseModel],
    within: str = "",
    origin: Callable[[Place], Place] | None = None,
) -> str:
    """Return the first fault that pydantic found in a JSON value, and its place, as one line.

    Parameters
    ----------
    form
        The form that the value does not have.
    within
        The place of the value itself, if it is a part of another.
    origin
        As of `check`.
    """
    first = _of_tag(_first_of(error.errors(include_url=False), form))
    more = f" (and {error.error_count() - 1} more faults)" if error.error_count() > 1 else ""
    place = without_tags(form, first["loc"])
    place = origin(place) if origin else place
    message = f"{_text_of((within, *place) if within else place)}{_message(first)}"
    if first["type"] == "extra_forbidden":
        *within_form, name = first["loc"]
        message += did_you_mean(str(name), fields_at(form, tuple(within_form)))
    return message + more


def _first_of(faults: Sequence[Any], form: type[BaseModel]) -> Any:
    """Return the first fault, or the misspelt field if the first is that the field is missing."""
    first = faults[0]
    if first["type"] != "missing":
        return first
    *parent, name = first["loc"]
    fields = fields_at(form, tuple(parent))
    unknown = (fault for fault in faults if fault["type"] == "extra_forbidden")
    siblings = (fault for fault in unknown if [*fault["loc"][:-1]] == parent)
    return next((f for f in siblings if closest_match(f["loc"][-1], fields) == name), first)


def _of_tag(fault: Any) -> Any:
    """Return a fault in the tag of a union as one of the field that holds the tag."""
    if fault["type"] not in ("union_tag_not_found", "union_tag_invalid"):
        return fault
    field = fault["ctx"]["discriminator"].strip("'")
    own = {**fault, "loc": (*fault["loc"], field)}
    if fault["type"] == "union_tag_not_found":
        return own | {"type": "missing"}
    *others, last = fault["ctx"]["expected_tags"].split(", ")
    message = f"should be {', '.join(others)} or {last}"
    return own | {"type": "literal_error", "msg": message, "input": fault["input"][field]}


class _DuplicateKeyError(ValueError):
    """A key stands twice in one object."""


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("is closed")
    return read_stream(sys.stdin.buffer)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        key, value = pairs[0]
        first = f"{key!r}: {value!r:.{LONGEST_SHOWN}}"
        raise _DuplicateKeyError(f"key {twice!r} stands twice in the object that begins {first}")
    return found


def _text_of(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return f"{text.lstrip('.')}: " if text else ""


def _message(error: Any) -> str:
    kind, value = error["type"], error["input"]
    message: str = MESSAGES.get(
        kind, error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    )
    if kind == "float_type" and isinstance(value, int) and not isinstance(value, bool):
        message = "is too large a number"
    if kind in ("missing", "extra_forbidden", "string_unicode") or isinstance(value, dict | list):
        return message
    got = repr(value)
    got = got if len(got) <= LONGEST_SHOWN else got[: LONGEST_SHOWN - 1] + "…"
    return f"{message} (got {got})"


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
