"""Invalid metadata in signed weights files."""

from pathlib import Path

import pytest
import torch

from streamplace.errors import CheckpointError
from streamplace.learning.policy.tensor_files import summary
from streamplace.learning.policy.weights import packed, read_policy, unpacked
from tests.corpus.own_files import weights

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("card", ['{"a": NaN}', '{"a": 1e999}', f'{{"a": {DEEP}}}', "[1]", "x"])
def test_invalid_cards_are_rejected(card: str, tmp_path: Path) -> None:
    tensors, metadata = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**metadata, "card": card}))
    for read in (summary, read_policy):
        with pytest.raises(CheckpointError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_invalid_sizes_are_rejected_in_one_line(tmp_path: Path) -> None:
    tensors, metadata = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**metadata, "sizes": '{"hidden": -1}'}))
    with pytest.raises(CheckpointError, match=r"sizes.hidden: must be at least 1 \(got -1\)"):
        read_policy(path)
    path.write_bytes(packed({"a": torch.zeros(1)}, {"format": "x"}))
    with pytest.raises(CheckpointError, match="not a policy file of version 1"):
        read_policy(path)


def test_a_device_file_is_not_a_weights_file() -> None:
    with pytest.raises(CheckpointError, match="is a device"):
        read_policy("/dev/zero")


def test_wrong_sizes_do_not_allocate_memory(tmp_path: Path) -> None:
    """A network of these sizes would take 34 GB."""
    tensors, metadata = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**metadata, "sizes": '{"hidden": 8192, "hops": 64}'}))
    with pytest.raises(CheckpointError, match="size mismatch"):
        read_policy(path)
