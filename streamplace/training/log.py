"""The log of a training run: one line per step in log.jsonl, and TensorBoard if installed."""

import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.files.training_logs import LOG

FOLDER = "tensorboard"
_log = logging.getLogger(__name__)


class TensorBoardLog:
    """Writer of a run's TensorBoard log; if writing fails, it warns once and stops.

    Parameters
    ----------
    folder
        Run folder.
    step
        Last step to keep; entries of later steps are hidden.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._folder = folder / FOLDER
        self._writer: Any = None
        if find_spec("tensorboard") is None:
            return
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to load

        self._hook = threading.excepthook
        threading.excepthook = self._on_thread_error
        try:
            self._writer = SummaryWriter(self._folder, purge_step=step + 1)
        except OSError as error:
            self._end(error)

    def write(self, record: Mapping[str, float | int]) -> None:
        """Add the metrics of a step."""
        for name, value in record.items():
            if name != "step":
                self._try("add_scalar", name, value, record["step"])

    def flush(self) -> None:
        """Write everything to disk."""
        self._try("flush")

    def close(self) -> None:
        """Close the log."""
        self._try("close")
        if self._writer is not None:
            self._writer = None
            threading.excepthook = self._hook

    def _try(self, method: str, *arguments: object) -> None:
        if self._writer is not None:
            try:
                getattr(self._writer, method)(*arguments)
            except OSError as error:
                self._end(error)

    def _end(self, error: OSError) -> None:
        self._writer = None
        threading.excepthook = self._hook
        _log.warning("%s: TensorBoard logging stopped: %s", self._folder, error.strerror or error)

    def _on_thread_error(self, arguments: threading.ExceptHookArgs) -> None:
        """Ignore OSErrors of TensorBoard's own thread: the next call in `_try` raises them."""
        is_writer = type(arguments.thread).__module__.startswith("tensorboard.")
        if not (is_writer and issubclass(arguments.exc_type, OSError)):
            self._hook(arguments)


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
