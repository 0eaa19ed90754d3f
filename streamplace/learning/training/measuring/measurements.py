"""The measured running times of the placements of some problems."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import TrainingError, UsageError
from streamplace.files import write_placement
from streamplace.files.writing import make_folder
from streamplace.learning.training.measuring.measure import NOUN, NamedMeasure, with_full_runs
from streamplace.learning.training.measuring.measurement_log import Entry, MeasurementLog
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import named_fault

FASTEST = "fastest"


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


def _key(devices: Ints) -> bytes:
    return np.ascontiguousarray(devices, np.int32).tobytes()


def write_fastest(folder: Path, problems: Sequence[Problem], measurements: Measurements) -> None:
    """Write ``fastest/N.json`` for each problem N of which a placement was measured."""
    for number, (seconds, row) in sorted(measurements.fastest().items()):
        placement = Placement(with_full_runs(problems[number]), row)
        where = make_folder(folder / FASTEST) / f"{number}.json"
        write_placement(where, placement, comment=f"measured: {seconds:.6g} s")
