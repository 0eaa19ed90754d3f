"""Measured running times of the placements of a run, and the file that keeps them."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import FormatError, TrainingError, UsageError
from streamplace.files import write_placement
from streamplace.files.reading import parse, read_bytes
from streamplace.files.writing import make_folder, write_text
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.training.measuring.measure import NOUN, NamedMeasure, with_full_runs
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import named_fault

MEASUREMENTS = "measurements.jsonl"
Entry: TypeAlias = tuple[int, float, Ints]
"""Number of the problem, seconds, and (V,) devices of a measured placement."""
REMEDY = "choose another folder, or remove the file to measure anew"
FASTEST = "fastest"


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


class MeasuringError(TrainingError):
    """A measure that failed, or returned something else than seconds; nothing has changed then."""


class Measurements:
    """The seconds of measured placements of some problems, which are referred to by number.

    Two placements are the same only if they assign every operator to the same device: devices that
    are equal on paper may differ in a real system.

    Parameters
    ----------
    log
        File of the measurements so far, which gets each new one; None: they are kept in memory.
    """

    def __init__(
        self,
        measure: NamedMeasure,
        problems: Sequence[Problem],
        log: MeasurementLog | None = None,
    ) -> None:
        self._measure, self._problems, self._log = measure, problems, log
        self._seconds: dict[tuple[int, bytes], float] = {}
        self.add([] if log is None else log.entries)

    @property
    def name(self) -> str:
        """The name of the measure."""
        return self._measure.name

    def add(self, entries: Iterable[Entry]) -> None:
        """Add measurements that were made before."""
        for number, seconds, row in entries:
            self._seconds[number, _key(row)] = seconds

    def unknown(self, number: int, placements: Ints) -> list[Ints]:
        """Return those of some placements, (K, V), that are not measured yet, each once."""
        rows = {_key(row): row for row in placements}
        return [row for key, row in rows.items() if (number, key) not in self._seconds]

    def __call__(self, number: int, placements: Ints) -> Floats:
        """Return the seconds of placements, (K,), from device indices, (K, V).

        All that are not measured yet are passed to the measure in one call.

        Raises
        ------
        MeasuringError
            If the measure fails, or returns anything but K finite numbers above 0.
        """
        if rows := self.unknown(number, placements):
            measured = self._measured(number, np.stack(rows)).tolist()
            entries = [(number, s, row.copy()) for s, row in zip(measured, rows, strict=True)]
            if self._log is not None:
                self._log.add(entries)
            self.add(entries)
        return np.array([self._seconds[number, _key(row)] for row in placements], np.float64)

    def fastest(self) -> Mapping[int, tuple[float, Ints]]:
        """Return the fewest seconds and their placement, (V,), by problem number."""
        best: dict[int, tuple[float, Ints]] = {}
        for (number, key), seconds in self._seconds.items():
            if number not in best or seconds < best[number][0]:
                best[number] = seconds, np.frombuffer(key, np.int32)
        return best

    def _measured(self, number: int, rows: Ints) -> NDArray[np.float64]:
        problem = self._problems[number]
        place = problem.graph.name or f"problem {number}"
        try:
            with named_fault(NOUN, self.name, "measuring failed", place):
                found = np.asarray(self._measure.measure(problem, rows), np.float64)
                if found.shape != (len(rows),):
                    raise UsageError(
                        f"must return seconds of shape ({len(rows)},), one number per placement "
                        f"(got shape {found.shape})"
                    )
                bad = ~(np.isfinite(found) & (found > 0))
                if bad.any():
                    k = int(bad.argmax())
                    raise UsageError(
                        f"seconds must be finite and above 0 (got {found[k]} for placement {k})"
                    )
        except UsageError as error:  # the work failed; the command was right
            raise MeasuringError(str(error)) from error
        return found


def _key(row: Ints) -> bytes:
    return np.ascontiguousarray(row, np.int32).tobytes()


def write_fastest(folder: Path, problems: Sequence[Problem], measurements: Measurements) -> None:
    """Write ``fastest/N.json`` for each problem N of which a placement was measured."""
    for number, (seconds, row) in sorted(measurements.fastest().items()):
        placement = Placement(with_full_runs(problems[number]), row)
        where = make_folder(folder / FASTEST) / f"{number}.json"
        write_placement(where, placement, comment=f"measured: {seconds:.6g} s")
