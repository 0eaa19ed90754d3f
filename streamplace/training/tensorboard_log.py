"""TensorBoard log of a run, if TensorBoard is installed."""

import logging
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
