"""Metadata of signed weights and checkpoints that must not be printed."""

from pathlib import Path

import pytest
import torch

from benchmarks.hardening.corpus.own_files import weights
from streamplace.errors import CheckpointError
from streamplace.policy.inspect import summary
from streamplace.policy.signed_tensors import packed, unpacked
from streamplace.policy.weights import read_policy

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("card", ['{"a": NaN}', '{"a": 1e999}', f'{{"a": {DEEP}}}', "[1]", "x"])
def test_cards_that_are_none(card: str, tmp_path: Path) -> None:
    tensors, words = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**words, "card": card}))
    for read in (summary, read_policy):
        with pytest.raises(CheckpointError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_sizes_of_another_kind_are_refused_in_a_line(tmp_path: Path) -> None:
    tensors, words = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**words, "sizes": '{"hidden": -1}'}))
    with pytest.raises(CheckpointError, match=r"sizes.hidden: must be at least 1 \(got -1\)"):
        read_policy(path)
    path.write_bytes(packed({"a": torch.zeros(1)}, {"format": "x"}))
    with pytest.raises(CheckpointError, match="holds no policy"):
        read_policy(path)


def test_a_device_is_no_file_of_weights() -> None:
    with pytest.raises(CheckpointError, match="is a device, not a file"):
        read_policy("/dev/zero")


def test_sizes_that_are_not_there_ask_for_no_memory(tmp_path: Path) -> None:
    """A network of these sizes would take 34 GB."""
    tensors, words = unpacked(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(packed(tensors, {**words, "sizes": '{"hidden": 8192, "hops": 64}'}))
    with pytest.raises(CheckpointError, match="size mismatch"):
        read_policy(path)
