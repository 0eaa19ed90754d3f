"""Bytes in, checked JSON values out; every fault is one line that names the file and the place."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamplace.errors import FormatError

Form = TypeVar("Form", bound=BaseModel)
STDIN = "-"


def read_bytes(path: str | Path) -> bytes:
    """Return a file's bytes, unzipped if it is gzip; ``-`` is stdin."""
    try:
        data = sys.stdin.buffer.read() if str(path) == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}") from None
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"{path}: broken gzip: {error}") from None
    return data


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: byte {error.start} is not UTF-8") from None


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
    except ValueError as error:  # duplicate keys, and integers of more digits than Python takes
        raise FormatError(f"{where}: {error}") from None


def read_json(path: str | Path) -> Any:
    """Read one JSON file."""
    return parse(decode(read_bytes(path), str(path)), str(path))


def json_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for the lines of a .jsonl file that are not blank."""
    text = decode(read_bytes(path), str(path))
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}: line {number}"
            yield where, parse(line, where)


def check(form: type[Form], value: Any, where: str) -> Form:
    """Validate a JSON value against one of the forms."""
    if not isinstance(value, dict):
        raise FormatError(f"{where}: must be an object, not {_kind(value)}")
    try:
        return form.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = _place(first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        said = first["msg"][0].lower() + first["msg"][1:]
        raise FormatError(f"{where}: {place}{said}{_got(first)}{more}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found


def _place(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return f"{text.lstrip('.')}: " if text else ""


def _got(error: Any) -> str:
    if error["type"] in ("missing", "extra_forbidden") or isinstance(error["input"], dict | list):
        return ""
    shown = repr(error["input"])
    return f" (got {shown if len(shown) <= 40 else shown[:37] + '…'})"  # noqa: PLR2004


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
