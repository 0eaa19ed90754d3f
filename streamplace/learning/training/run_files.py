"""Files of a training run: its log, and checkpoints from which it resumes bit for bit."""

import json
import logging
import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from streamplace.errors import CheckpointError, FormatError, TrainingError
from streamplace.files.training_logs import LOG
from streamplace.files.writing import atomic, write_text
from streamplace.learning.policy.tensor_files import entry_value, read
from streamplace.learning.policy.weights import pack_tensors, unpack_tensors
from streamplace.learning.training.config import TrainConfig, with_own_algorithms, with_stages
from streamplace.learning.training.elite_buffer import PREFIX as MEMORY
from streamplace.learning.training.loop import Loop, Position
from streamplace.util.out_of_memory import is_out_of_memory

FOLDER = "tensorboard"
FORMAT = "streamplace-checkpoint"
VERSION = "1"
NETWORK = "network."
MAX_SHOWN = 40  # characters; messages leave out values that are longer
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


def save_checkpoint(
    path: Path,
    policy: nn.Module,
    state: Mapping[str, Tensor],
    position: Position,
    run: Mapping[str, Any],
) -> None:
    """Write a checkpoint atomically; it replaces the previous one after it has been read back.

    Parameters
    ----------
    state
        State of the current stage's algorithm, as `Loop.state` returns it.
    run
        Identity of the run: its config, the hash of its problems and the number of processes.

    Raises
    ------
    TrainingError
        If a parameter or one of its optimiser moments is not finite.
    CheckpointError
        If the file on disk differs from what was written.
    """
    tensors = {NETWORK + name: x for name, x in policy.state_dict().items()} | dict(state)
    for name, tensor in tensors.items():
        if not name.startswith(MEMORY) and not torch.isfinite(tensor).all():
            raise TrainingError(f"{name} is not finite; the previous checkpoint is kept")
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "position": json.dumps(vars(position)),
        "run": json.dumps(run),
    }
    data = pack_tensors(tensors, metadata)
    with atomic(path, verify=lambda written: unpack_tensors(written, str(path))) as file:
        file.write(data)


def load_checkpoint(path: Path, loop: Loop, run: Mapping[str, Any]) -> None:
    """Restore a loop to the position and state of a checkpoint.

    Raises
    ------
    CheckpointError
        If the file is not a checkpoint, is damaged, or belongs to another run.
    """
    tensors, metadata = unpack_tensors(read(path), str(path))
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        raise CheckpointError(f"{path}: is not a checkpoint of version {VERSION}")
    try:
        before = present_form(dict(entry_value(metadata["run"])))
        position = _position(entry_value(metadata["position"]))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: invalid run or position: {error}") from None
    if other := _difference(before, run):
        raise CheckpointError(f"{path}: belongs to another run: {other}; choose another folder")
    try:
        network = {n.removeprefix(NETWORK): x for n, x in tensors.items() if n.startswith(NETWORK)}
        loop.learner.policy.load_state_dict(network)
        loop.restore(position, tensors)
    except (KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None


def present_form(run: dict[str, Any]) -> dict[str, Any]:
    """Return the identity of a run, with a config of an earlier version converted."""
    config = run.get("config")
    if not isinstance(config, dict):
        return run
    try:
        made = with_own_algorithms(config) if "stage" in config else with_stages(config)
        checked = TrainConfig.model_validate(made)
    except (FormatError, ValidationError):
        return run  # it differs from the identity of every current run
    return run | {"config": identity_of(checked)}


def identity_of(config: TrainConfig) -> dict[str, Any]:
    """Return the part of a config that a resumed run must share with its checkpoint."""
    value = config.model_dump(mode="json")
    value["run"] = {name: value["run"][name] for name in ("seed", "held_out", "weights")}
    return value


def _difference(before: Any, now: Any, where: str = "") -> str:
    """Return the first difference between two runs' identities, or an empty string."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in now:
            place = f"{where}.{key}" if where else key
            if difference := _difference(before.get(key), now.get(key), place):
                return difference
        return ""
    if before == now:
        return ""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return next(filter(None, (_difference(a, b, f"{where}[{i}]") for i, (a, b) in pairs)))
    short = all(len(str(x)) < MAX_SHOWN for x in (before, now))
    if where == "problems":  # hashes would tell nothing
        return "other graphs or clusters"
    return f"{where}: {before} in the checkpoint, {now} now" if short else f"different {where}"


def _position(value: dict[str, Any]) -> Position:
    position = Position(**value)
    counts = (position.epoch, position.step_of_epoch, position.step, position.schedule_step)
    seconds = float(position.seconds)
    valid = all(type(count) is int and count >= 0 for count in counts)
    if not valid or position.schedule_step > position.step or not 0 <= seconds < math.inf:
        raise ValueError(f"not a position: {value}")
    return Position(*counts[:3], seconds, position.schedule_step)
