"""The log of a training run: one line per step in log.jsonl, and TensorBoard if installed."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.files.training_logs import LOG
from streamplace.training.tensorboard_log import TensorBoardLog


class TrainingLog:
    """The log of a run, opened at the step at which the run starts or resumes.

    Parameters
    ----------
    folder
        Run folder.
    step
        Last step to keep; later lines were written after the checkpoint and are removed.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._path = path = folder / LOG
        kept: list[str] = []
        if path.exists():
            kept = [line for line in _lines(path) if _before(line, step)]
        write_text(path, "".join(kept))
        with self._writing():
            self._file = path.open("ab", buffering=0)
        self._board = TensorBoardLog(folder, step)

    def write(self, record: dict[str, float | int]) -> None:
        """Add the metrics of a step, including ``step``; leave out values that are not finite."""
        record = {name: value for name, value in record.items() if isfinite(value)}
        line = memoryview(json.dumps(record).encode() + b"\n")
        with self._writing():
            while line:  # a single write, unless the disk is full
                line = line[self._file.write(line) :]
        self._board.write(record)

    def flush(self) -> None:
        """Write everything to disk."""
        with self._writing():
            os.fsync(self._file.fileno())
        self._board.flush()

    def close(self) -> None:
        """Close the log files."""
        self._file.close()
        self._board.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FormatError(f"{self._path}: cannot write: {error.strerror}") from None


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines(True)


def _before(line: str, step: int) -> bool:
    try:
        return bool(json.loads(line)["step"] <= step)
    except (ValueError, KeyError, TypeError):  # cut off when the run was killed
        return False
