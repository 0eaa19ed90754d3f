"""Entries of the controller's journal, as lines of JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.checksums import NAME, checksum
from streamplace.files.reading import parse, read_bytes

FORMAT, VERSION = "streamplace-journal", 1
HEAD = json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
BEGAN, ENDED = "began", "ended"
AT, STEP = "at", "step"
REMEDY = "choose another folder, or move the file away"


@dataclass(frozen=True)
class Entry:
    """A step that was about to be taken, or that had just ended.

    Parameters
    ----------
    at_s
        Seconds since 1970.
    step
        Its name. An action lasts from `BEGAN` to `ENDED`; all others are up to the writer.
    details
        Further JSON values by name.
    """

    at_s: float
    step: str
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def line(self) -> str:
        """Return the line of the journal."""
        value = {AT: self.at_s, STEP: self.step, **self.details}
        return json.dumps({**value, NAME: checksum(value)}, allow_nan=False) + "\n"


def read_entries(path: str | Path) -> tuple[list[Entry], int]:
    """Return the entries of a journal, and the number of bytes of its whole lines.

    A last line without an end is left out: the process was killed while it wrote the line.

    Raises
    ------
    FormatError
        If the file cannot be read, is no journal or one of a later version, or a whole line is not
        an entry.
    """
    data = read_bytes(path)
    size = data.rfind(b"\n") + 1
    head, *lines = data[:size].split(b"\n")[:-1] or [b""]
    if not head:
        if not HEAD.encode().startswith(data):
            raise FormatError(f"{path}: is not a journal of the controller; {REMEDY}")
        return [], 0
    _check_head(head, str(path))
    entries = [_entry(line, f"{path}: line {number}") for number, line in enumerate(lines, start=2)]
    return entries, size


def unfinished(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the steps of the action that was interrupted, from `BEGAN` on; none if none was."""
    for i in reversed(range(len(entries))):
        if entries[i].step == ENDED:
            return ()
        if entries[i].step == BEGAN:
            return tuple(entries[i:])
    return ()


def latest(entries: Sequence[Entry], name: str) -> Any:
    """Return the last value of a detail, such as the id of the job; None if there is none."""
    values = (entry.details[name] for entry in reversed(entries) if name in entry.details)
    return next(values, None)


def _check_head(line: bytes, where: str) -> None:
    try:
        value = _value(line, where)
    except FormatError:
        value = None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormatError(f"{where}: is not a journal of the controller; {REMEDY}")
    if value.get("version") != VERSION:
        raise FormatError(
            f"{where}: a journal of version {value.get('version')!r:.40}, and this streamplace "
            f"reads version {VERSION}; use the streamplace that wrote it"
        )


def _entry(line: bytes, where: str) -> Entry:
    value = _value(line, where)
    summed = value.pop(NAME, None) if isinstance(value, dict) else None
    if summed is not None and summed != checksum(value):
        raise FormatError(f"{where}: has changed since it was written; {REMEDY}")
    match value:
        case {"at": int() | float() as at_s, "step": str() as step, **details} if summed:
            return Entry(float(at_s), step, {str(name): each for name, each in details.items()})
    raise FormatError(f"{where}: is not an entry of a journal; {REMEDY}")


def _value(line: bytes, where: str) -> Any:
    try:
        return parse(line.decode(), where, is_line=True)
    except UnicodeDecodeError:
        raise FormatError(f"{where}: is not UTF-8; {REMEDY}") from None
