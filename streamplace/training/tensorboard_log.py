"""The TensorBoard log of a run, where TensorBoard is installed."""

import logging
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "tensorboard"
_log = logging.getLogger(__name__)


class TensorBoardLog:
    """What TensorBoard shows of a run; where it cannot be written it ends, and that is told.

    Parameters
    ----------
    folder
        Of the run.
    step
        What was shown of later steps is forgotten.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._folder = folder / FOLDER
        self._writer: Any = None
        if find_spec("tensorboard") is None:
            return
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to load

        self._hook = threading.excepthook
        threading.excepthook = self._of_thread
        try:
            self._writer = SummaryWriter(self._folder, purge_step=step + 1)
        except OSError as error:
            self._end(error)

    def write(self, record: Mapping[str, float | int]) -> None:
        """Show the numbers of a step."""
        for name, value in record.items():
            if name != "step":
                self._try("add_scalar", name, value, record["step"])

    def flush(self) -> None:
        """Bring everything to the disk."""
        self._try("flush")

    def close(self) -> None:
        """Show no more."""
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
        _log.warning("%s: ends here: %s", self._folder, error.strerror or error)

    def _of_thread(self, arguments: threading.ExceptHookArgs) -> None:
        """Leave to `_try` what fails in TensorBoard's own thread: it is raised again here."""
        ours = type(arguments.thread).__module__.startswith("tensorboard.")
        if not (ours and issubclass(arguments.exc_type, OSError)):
            self._hook(arguments)
