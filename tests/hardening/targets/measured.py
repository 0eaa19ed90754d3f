"""The reader of a run's measurements, and the use of what it returns."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.learning.training.measuring.measurement_log import (
    MEASUREMENTS,
    Entry,
    read_measurements,
)
from tests.corpus import measured_run
from tests.hardening.targets.consumers import InconsistencyError


def read_log(folder: str) -> list[Entry]:
    """Return the measurements in a folder."""
    head, _, _ = measured_run.measurements().data.decode().partition("\n")
    shapes = [(measured_run.OPERATORS, measured_run.DEVICES)]
    return read_measurements(Path(folder) / MEASUREMENTS, head, shapes)[0]


def use_log(entries: Sequence[Entry]) -> None:
    """Require measurements that a run can use."""
    for number, seconds, row in entries:
        devices = {*row.tolist()}
        if number or not 0 < seconds < float("inf") or not devices <= {*range(2)}:
            raise InconsistencyError("a measurement of no problem of the run")
