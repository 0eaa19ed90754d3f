"""The file that keeps the measurements of a run."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from streamplace.errors import FormatError
from streamplace.files.reading import parse, read_bytes
from streamplace.files.writing import write_text
from streamplace.util.arrays import Ints

MEASUREMENTS = "measurements.jsonl"
Entry: TypeAlias = tuple[int, float, Ints]
"""Number of the problem, seconds, and (V,) devices of a measured placement."""
REMEDY = "choose another folder, or remove the file to measure anew"


class MeasurementLog:
    """The measurements in a run folder.

    The first line names the problems and the measure; each further line is one measured placement.
    A last line without an end is left out: the process was killed while it wrote the line.

    Parameters
    ----------
    folder
        Run folder; it has to exist only when something is added.
    source
        Hash of the problems and name of the measure.
    shapes
        Numbers of operators and devices of each problem.

    Raises
    ------
    FormatError
        If the file is about other problems or another measure, or a line is not a measurement of
        one of these problems.
    """

    def __init__(
        self, folder: Path, source: dict[str, str], shapes: Sequence[tuple[int, int]]
    ) -> None:
        self.path = folder / MEASUREMENTS
        self._head = json.dumps(source) + "\n"
        self.entries: list[Entry] = []
        if not os.path.lexists(self.path):
            return
        self.entries, is_complete = read_measurements(self.path, self._head, shapes)
        if not is_complete:
            write_text(self.path, self._head + "".join(map(_line, self.entries)))

    def add(self, entries: Sequence[Entry]) -> None:
        """Write measurements to the disk."""
        if not self.path.exists():
            write_text(self.path, self._head)
        try:
            with self.path.open("ab") as file:
                file.write("".join(map(_line, entries)).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FormatError(f"{self.path}: cannot write: {error.strerror}") from None
        self.entries += entries


def read_measurements(
    path: Path, head: str, shapes: Sequence[tuple[int, int]]
) -> tuple[list[Entry], bool]:
    """Return the measurements in a file, and whether its last line has an end.

    Parameters
    ----------
    head
        The first line that the file must have.
    shapes
        Numbers of operators and devices of each problem.

    Raises
    ------
    FormatError
        If the file cannot be read, has another first line, or a line is not a measurement of one
        of these problems.
    """
    data = read_bytes(path)
    lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
    if lines and lines[0] != head.encode().strip():
        fault = f"holds measurements of other problems or by another measure; {REMEDY}"
        raise FormatError(f"{path}: {fault}")
    entries = [
        _entry(line, f"{path}: line {number}", shapes)
        for number, line in enumerate(lines[1:], start=2)
    ]
    return entries, data.endswith(b"\n")


def _line(entry: Entry) -> str:
    problem, seconds, row = entry
    return json.dumps({"problem": problem, "seconds": seconds, "devices": row.tolist()}) + "\n"


def _entry(line: bytes, place: str, shapes: Sequence[tuple[int, int]]) -> Entry:
    try:
        value = parse(line.decode(), place, is_line=True)
    except (FormatError, UnicodeDecodeError):
        value = None
    if not _is_measurement(value, shapes):
        raise FormatError(f"{place}: is not a measurement of this run's problems; {REMEDY}")
    return value["problem"], float(value["seconds"]), np.array(value["devices"], np.int32)


def _is_measurement(value: Any, shapes: Sequence[tuple[int, int]]) -> bool:
    match value:
        case {"problem": int(number), "seconds": float() | int() as seconds, "devices": [*row]}:
            operators, devices = shapes[number] if 0 <= number < len(shapes) else (-1, 0)
            fits = len(row) == operators and all(type(d) is int and 0 <= d < devices for d in row)
            are_numbers = bool not in (type(number), type(seconds))  # a bool is an int
            # a whole number may be larger than any float
            return fits and are_numbers and 0 < seconds <= sys.float_info.max
    return False
