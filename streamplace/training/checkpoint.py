"""Checkpoints: everything that a run needs to resume bit for bit, in one safetensors file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.errors import CheckpointError, TrainingError
from streamplace.files.atomic import atomic
from streamplace.policy.weights import packed, parsed, read, unpacked
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.util.out_of_memory import is_out_of_memory

FORMAT = "streamplace-checkpoint"
VERSION = "1"
MOST_SAID = 40  # letters of a value that differs
COLUMNS = {
    "problem": np.int64,
    "reward": np.float64,
    "length": np.int64,
    "devices": np.int16,
    "best": np.float64,
}
"""Of the memory, one entry after the other: name -> type."""


@dataclass
class Position:
    """How far a run has come.

    Attributes
    ----------
    epoch, step_of_epoch
        The step to do next.
    step
        Steps done.
    seconds
        Wall time of the steps: without validation, checkpoints and the teacher.
    """

    epoch: int = 0
    step_of_epoch: int = 0
    step: int = 0
    seconds: float = 0.0


def save_checkpoint(
    path: Path,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    memory: EliteBuffer,
    position: Position,
    run: dict[str, Any],
) -> None:
    """Write a checkpoint in one piece; it replaces the last one once it has been read back.

    Parameters
    ----------
    run
        What the run is of: its config and the hash of its problems.

    Raises
    ------
    TrainingError
        If a parameter, or what the optimiser keeps of it, is not finite.
    CheckpointError
        If what is on the disk is not what was written.
    """
    tensors = {f"network.{name}": x for name, x in network.state_dict().items()}
    names = [name for name, _ in network.named_parameters()]
    for i, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{key}.{names[i]}": x for key, x in state.items()}
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise TrainingError(f"{name} is not finite; the last checkpoint is kept")
    tensors |= {f"memory.{key}": torch.from_numpy(x) for key, x in _columns(memory).items()}
    words = {
        "format": FORMAT,
        "version": VERSION,
        "position": json.dumps(vars(position)),
        "run": json.dumps(run),
    }
    data = packed(tensors, words)
    with atomic(path, verify=lambda written: unpacked(written, str(path))) as file:
        file.write(data)


def load_checkpoint(
    path: Path,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    memory: EliteBuffer,
    run: dict[str, Any],
    shapes: Sequence[tuple[int, int]],
) -> Position:
    """Take a run up where the checkpoint left it.

    Parameters
    ----------
    shapes
        Operators and devices of each problem.

    Raises
    ------
    CheckpointError
        If it is none, damaged, or one of another run.
    """
    tensors, words = unpacked(read(path), str(path))
    if words.get("format") != FORMAT or words.get("version") != VERSION:
        raise CheckpointError(f"{path}: holds no checkpoint of version {VERSION}")
    try:
        before = dict(parsed(words["run"]))
        position = _position(parsed(words["position"]))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: tells no run and position: {error}") from None
    if other := _difference(before, run):
        raise CheckpointError(f"{path}: is of another run: {other}")
    try:
        network.load_state_dict(_under("network.", tensors))
        names = [name for name, _ in network.named_parameters()]
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _under("optimiser.", tensors).items():
            key, _, parameter = name.partition(".")
            state.setdefault(names.index(parameter), {})[key] = tensor
        groups = optimiser.state_dict()["param_groups"]
        optimiser.load_state_dict({"state": state, "param_groups": groups})
        _refill(memory, _under("memory.", tensors), shapes)
    except (KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    return position


def _difference(before: Any, now: Any, where: str = "") -> str:
    """Return what first differs between what two runs are of; empty if nothing does."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in now:
            place = f"{where}.{key}" if where else key
            if found := _difference(before.get(key), now.get(key), place):
                return found
        return ""
    if before == now:
        return ""
    short = all(len(str(x)) < MOST_SAID for x in (before, now))
    return f"{where}: {before} there, {now} here" if short else f"its {where} are others"


def _position(value: dict[str, Any]) -> Position:
    position = Position(**value)
    counts = (position.epoch, position.step_of_epoch, position.step)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError(f"{value} is no position")
    return Position(*counts, float(position.seconds))


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): x for n, x in tensors.items() if n.startswith(prefix)}


def _columns(memory: EliteBuffer) -> dict[str, np.ndarray]:
    entries = list(memory.entries())
    rows = [row for _, _, row in entries]
    return {
        "problem": np.array([p for p, _, _ in entries], COLUMNS["problem"]),
        "reward": np.array([reward for _, reward, _ in entries], COLUMNS["reward"]),
        "length": np.array([len(row) for row in rows], COLUMNS["length"]),
        "devices": np.concatenate([*rows, np.empty(0, np.int32)]).astype(COLUMNS["devices"]),
        "best": memory.best,
    }


def _refill(
    memory: EliteBuffer, tensors: dict[str, Tensor], shapes: Sequence[tuple[int, int]]
) -> None:
    columns = {name: tensor.numpy() for name, tensor in tensors.items()}
    for name, kind in COLUMNS.items():
        if columns[name].dtype != kind:
            raise ValueError(f"memory.{name}: must be of type {np.dtype(kind)}")
    lengths = columns["length"]
    if lengths.sum() != len(columns["devices"]):
        raise ValueError("the memory's placements do not add up")
    rows = np.split(columns["devices"].astype(np.int32), np.cumsum(lengths)[:-1])
    problems, rewards = columns["problem"].tolist(), columns["reward"].tolist()
    for problem, row in zip(problems, rows, strict=len(lengths) > 0):
        operators, devices = shapes[problem] if 0 <= problem < len(shapes) else (0, 0)
        if len(row) != operators or not 0 <= row.min() <= row.max() < devices:
            raise ValueError(f"the memory holds no placement of problem {problem}")
    memory.restore(zip(problems, rewards, rows if len(lengths) else [], strict=True))
    memory.best[:] = columns["best"]
