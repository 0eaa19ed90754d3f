"""Checkpoints: everything that a run needs to resume bit for bit, in one safetensors file."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from streamplace.errors import CheckpointError, TrainingError
from streamplace.files.atomic import atomic
from streamplace.policy.signed_tensors import packed, parsed, read, unpacked
from streamplace.training.config import TrainConfig
from streamplace.training.elite_buffer import PREFIX as MEMORY
from streamplace.training.loop import Loop, Position
from streamplace.training.old_configs import with_stages
from streamplace.util.out_of_memory import is_out_of_memory

FORMAT = "streamplace-checkpoint"
VERSION = "1"
NETWORK = "network."
MOST_SHOWN = 40  # letters of a value that differs


def save_checkpoint(
    path: Path,
    policy: nn.Module,
    state: Mapping[str, Tensor],
    position: Position,
    run: Mapping[str, Any],
) -> None:
    """Write a checkpoint in one piece; it replaces the last one once it has been read back.

    Parameters
    ----------
    state
        The state of the stage's algorithm.
    run
        The identity of the run: its config and the hash of its problems.

    Raises
    ------
    TrainingError
        If a parameter, or what the optimiser keeps of it, is not finite.
    CheckpointError
        If the file on the disk is not what was written.
    """
    tensors = {NETWORK + name: x for name, x in policy.state_dict().items()} | dict(state)
    for name, tensor in tensors.items():
        if not name.startswith(MEMORY) and not torch.isfinite(tensor).all():
            raise TrainingError(f"{name} is not finite; the last checkpoint is kept")
    words = {
        "format": FORMAT,
        "version": VERSION,
        "position": json.dumps(vars(position)),
        "run": json.dumps(run),
    }
    data = packed(tensors, words)
    with atomic(path, verify=lambda written: unpacked(written, str(path))) as file:
        file.write(data)


def load_checkpoint(path: Path, loop: Loop, run: Mapping[str, Any]) -> None:
    """Let a loop go on where a checkpoint left it.

    Raises
    ------
    CheckpointError
        If the file is no checkpoint, is damaged, or is one of another run.
    """
    tensors, words = unpacked(read(path), str(path))
    if words.get("format") != FORMAT or words.get("version") != VERSION:
        raise CheckpointError(f"{path}: holds no checkpoint of version {VERSION}")
    try:
        before = _present_form(dict(parsed(words["run"])))
        position = _position(parsed(words["position"]))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: no run or position: {error}") from None
    if other := _difference(before, run):
        raise CheckpointError(f"{path}: is of another run: {other}")
    try:
        network = {n.removeprefix(NETWORK): x for n, x in tensors.items() if n.startswith(NETWORK)}
        loop.learner.policy.load_state_dict(network)
        loop.restore(position, tensors)
    except (KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None


def _present_form(run: dict[str, Any]) -> dict[str, Any]:
    """Return the identity of a run with the config of 0.2 in its present form."""
    config = run.get("config")
    if not isinstance(config, dict) or "stage" in config:
        return run
    try:
        checked = TrainConfig.model_validate(with_stages(config))
    except ValidationError:
        return run  # which differs from any run of today
    return run | {"config": identity_of(checked)}


def identity_of(config: TrainConfig) -> dict[str, Any]:
    """Return the part of a config that a resumed run must share with its checkpoint."""
    value = config.model_dump(mode="json")
    value["run"] = {name: value["run"][name] for name in ("seed", "held_out")}
    return value


def _difference(before: Any, now: Any, where: str = "") -> str:
    """Return the first difference between two runs' identities; empty if there is none."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in now:
            place = f"{where}.{key}" if where else key
            if found := _difference(before.get(key), now.get(key), place):
                return found
        return ""
    if before == now:
        return ""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return next(filter(None, (_difference(a, b, f"{where}[{i}]") for i, (a, b) in pairs)))
    short = all(len(str(x)) < MOST_SHOWN for x in (before, now))
    return f"{where}: {before} there, {now} here" if short else f"its {where} are others"


def _position(value: dict[str, Any]) -> Position:
    position = Position(**value)
    counts = (position.epoch, position.step_of_epoch, position.step, position.schedule_step)
    seconds = float(position.seconds)
    whole = all(type(count) is int and count >= 0 for count in counts)
    if not whole or position.schedule_step > position.step or not 0 <= seconds < math.inf:
        raise ValueError(f"{value} is no position")
    return Position(*counts[:3], seconds, position.schedule_step)
