"""The journal of the controller: lines of JSON from which a killed one goes on."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from streamplace.errors import FormatError, UsageError
from streamplace.files.json_text import CHECKSUM, checksum
from streamplace.files.reading import parse, read_bytes
from streamplace.files.writing import lock, sync_folder

FORMAT, VERSION = "streamplace-journal", 1
HEAD = json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
BEGAN, ENDED = "began", "ended"
AT, STEP = "at", "step"
OPENED, PID = "opened", "pid"  # which process writes from here on, unless it watches nothing
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
        return json.dumps({**value, CHECKSUM: checksum(value)}, allow_nan=False) + "\n"


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


def _writer(path: Path) -> str:
    """Return the process that writes into a journal, in words."""
    pid = latest(read_entries(path)[0], PID)
    return "another controller" if pid is None else f"another controller (process {pid})"


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
    summed = value.pop(CHECKSUM, None) if isinstance(value, dict) else None
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


class Journal:
    """A file of JSON lines, each of which is on the disk before the step that it names begins.

    The file is locked for this process until it is closed. Of its entries, only those are kept in
    memory that a controller goes on from: it writes one in every window, for months.

    Parameters
    ----------
    path
        The file; it is created if it does not exist. If the process that wrote it was killed, its
        last line may lack its end; that line is removed.

    Raises
    ------
    FormatError
        If the file cannot be read or written, is not a journal, is one of a later version, or is
        locked by another process.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._unopened: int | None = None  # bytes before an `OPENED` that nothing follows yet
        self._unfinished: list[Entry] = []
        self._jobs: dict[str, None] = {}
        self._latest: dict[str, Any] = {}
        is_new = not os.path.lexists(self.path)
        made = os.O_CREAT if is_new else 0  # no file takes the place of one that another has locked
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | made, 0o666)
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            if lock(self._handle) is False:
                raise FormatError(f"{self.path}: {_writer(self.path)} is writing into this journal")
            entries, self._size = read_entries(self.path)
            self._cut()
            for entry in entries:
                self._keep(entry)
            if not self._size:
                self._append(HEAD)
            if is_new:
                sync_folder(self.path.parent)
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def write(self, at_s: float, step: str, **details: Any) -> None:
        """Write an entry; it is on the disk when this returns.

        Parameters
        ----------
        at_s
            Seconds since 1970.
        step
            See `Entry`.
        details
            Further JSON values, for example ``job`` or ``state``.

        Raises
        ------
        FormatError
            If it cannot be written; the journal is as it was before.
        UsageError
            If a detail is called ``at`` or ``step``.
        """
        if taken := {AT, STEP} & details.keys():
            raise UsageError(f"journal: a detail must not be called {min(taken)!r}")
        entry, before = Entry(at_s, step, details), self._size
        self._append(entry.line())
        self._unopened = before if step == OPENED else None
        self._keep(entry)

    @property
    def unfinished(self) -> tuple[Entry, ...]:
        """The steps of the action that is under way, or was interrupted; none if there is none."""
        return tuple(self._unfinished)

    @property
    def jobs(self) -> list[str]:
        """The ids of the job, the latest last; a restart gives it another one."""
        return list(self._jobs)

    def latest(self, name: str) -> Any:
        """Return the last value of a detail; None if there is none."""
        return self._latest.get(name)

    def close(self) -> None:
        """Close the file, and release its lock; an `OPENED` that nothing followed is removed."""
        try:
            if self._unopened is not None:
                self._size = self._unopened
                with suppress(FormatError):
                    self._cut()
        finally:
            os.close(self._handle)

    def _keep(self, entry: Entry) -> None:
        """Keep what the next controller needs of an entry."""
        if entry.step in (BEGAN, ENDED):
            self._unfinished = []
        if entry.step == BEGAN or self._unfinished:
            self._unfinished.append(entry)
        if "job" in entry.details:
            job = str(entry.details["job"])
            self._jobs.pop(job, None)
            self._jobs[job] = None
        self._latest |= entry.details

    def _append(self, line: str) -> None:
        data = line.encode()
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError as error:
            self._cut()
            raise self._cannot_write(error) from None
        self._size += len(data)

    def _cut(self) -> None:
        """Remove what follows the last whole line."""
        try:
            if os.fstat(self._handle).st_size > self._size:
                os.ftruncate(self._handle, self._size)
                os.fsync(self._handle)
        except OSError as error:
            raise self._cannot_write(error) from None

    def _cannot_write(self, error: OSError) -> FormatError:
        return FormatError(f"{self.path}: cannot write: {error.strerror}")
