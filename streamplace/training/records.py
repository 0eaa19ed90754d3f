"""What a run tells of itself: a line a step in log.jsonl, and TensorBoard where it is installed."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.files.logs import LOG


class Records:
    """The log of a run, taken up at a step.

    Parameters
    ----------
    folder
        Of the run.
    step
        Lines after it are forgotten: they were written after the checkpoint.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._path = path = folder / LOG
        kept: list[str] = []
        if path.exists():
            kept = [line for line in _lines(path) if _before(line, step)]
        write_text(path, "".join(kept))
        with self._writing():
            self._file = path.open("ab", buffering=0)
        self._board: Any = None
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to load

            self._board = SummaryWriter(folder / "tensorboard", purge_step=step + 1)

    def write(self, record: dict[str, float | int]) -> None:
        """Add what a step tells: ``step`` and any other numbers; those not finite are left out."""
        record = {name: value for name, value in record.items() if isfinite(value)}
        line = memoryview(json.dumps(record).encode() + b"\n")
        with self._writing():
            while line:  # at once, unless the disk is full
                line = line[self._file.write(line) :]
        if self._board is not None:
            for name, value in record.items():
                if name != "step":
                    self._board.add_scalar(name, value, record["step"])

    def flush(self) -> None:
        """Bring everything to the disk."""
        with self._writing():
            os.fsync(self._file.fileno())
        if self._board is not None:
            self._board.flush()

    def close(self) -> None:
        """Write no more."""
        self._file.close()
        if self._board is not None:
            self._board.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FormatError(f"{self._path}: cannot be written: {error.strerror}") from None


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines(True)


def _before(line: str, step: int) -> bool:
    try:
        return bool(json.loads(line)["step"] <= step)
    except (ValueError, KeyError, TypeError):  # a line cut off when the run was killed
        return False
