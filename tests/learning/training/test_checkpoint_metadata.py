"""Checkpoints with a valid hash and invalid metadata or dtypes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from streamplace.errors import CheckpointError
from streamplace.learning.policy.weights import pack_tensors, unpack_tensors
from tests.corpus.checkpoints import resume, written

Change = Callable[[dict[str, Tensor], dict[str, str]], None]
POSITION = '{"epoch": 0, "step_of_epoch": 1, "step": 1, "seconds": %s}'


def _with_nan_devices(tensors: dict[str, Tensor], words: dict[str, str]) -> None:
    tensors["memory.devices"] = torch.full(tensors["memory.devices"].shape, torch.nan)


def _with_huge_time(tensors: dict[str, Tensor], words: dict[str, str]) -> None:
    words["position"] = POSITION % ("9" * 400)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with_nan_devices, "memory.devices: must be of type int16"),
        (_with_huge_time, "invalid run or position: int too large"),
    ],
)
def test_invalid_content_is_refused_in_one_line(
    change: Change, message: str, tmp_path: Path
) -> None:
    tensors, words = unpack_tensors(written(tmp_path), "file")
    path = tmp_path / "changed.safetensors"
    path.write_bytes(pack_tensors(tensors, words))
    resume(str(path))
    change(tensors, words)
    path.write_bytes(pack_tensors(tensors, words))
    with pytest.raises(CheckpointError) as caught:
        resume(str(path))
    assert str(caught.value).startswith(f"{path}: {message}")
