"""Weights with a hash: round trips, and refusal of damaged files and invalid metadata."""

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from streamplace.errors import CheckpointError
from streamplace.learning.policy.tensor_files import summary
from streamplace.learning.policy.weights import pack_tensors, read_policy, unpack_tensors
from tests.corpus.own_files import weights

TENSORS = {"b": torch.ones(3), "a": torch.zeros(2, 2)}
METADATA = {"kind": "x", "card": '{"ä": "\\n"}', "format": "f", "sizes": "{}", "version": "1"}


def test_the_same_tensors_give_the_same_bytes() -> None:
    """The safetensors library writes metadata in random order."""
    assert len({pack_tensors(TENSORS, METADATA) for _ in range(20)}) == 1


def test_unpacked_reverses_packed() -> None:
    tensors, metadata = unpack_tensors(pack_tensors(TENSORS, METADATA), "x")
    assert metadata == METADATA
    assert tensors.keys() == TENSORS.keys()
    assert all((tensors[name] == x).all() for name, x in TENSORS.items())
    assert int.from_bytes(pack_tensors(TENSORS, METADATA)[:8], "little") % 8 == 0


def refused(data: bytes) -> bool:
    """Return whether a file is refused by a message of one line that names it."""
    try:
        unpack_tensors(data, "x")
    except CheckpointError as error:
        return str(error).startswith("x: ") and str(error).isprintable()
    return False


def test_every_damage_is_refused() -> None:
    """All single flipped bits, truncations and repeated bytes of a file."""
    data = pack_tensors(TENSORS, METADATA)
    for i in range(len(data)):
        before, after = data[:i], data[i:]
        for bit in range(8):
            assert refused(before + bytes([after[0] ^ 1 << bit]) + after[1:]), (i, bit)
        assert refused(before), i
        assert refused(before + bytes([after[0]]) + after), i
    assert refused(data + b"\0")


def with_header(data: bytes, change: dict[str, Any]) -> bytes:
    """Return a safetensors file with changed entries of its header."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps({**json.loads(data[8:end]), **change}).encode()
    return len(header).to_bytes(8, "little") + header + data[end:]


@pytest.mark.parametrize("words", [None, {"sha256": "0" * 64}], ids=["none", "some"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.complex64])
def test_unexpected_metadata_and_number_types_are_refused(
    words: dict[str, str] | None, dtype: torch.dtype
) -> None:
    """Null metadata and number types that numpy does not know must not cause a traceback."""
    whole = safetensors.torch.save({"x": torch.ones(4, dtype=dtype)}, {"sha256": "0"})
    assert refused(with_header(whole, {"__metadata__": words}))
    assert refused(safetensors.torch.save(TENSORS))
    assert refused(safetensors.torch.save(TENSORS, METADATA))


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("card", ['{"a": NaN}', '{"a": 1e999}', f'{{"a": {DEEP}}}', "[1]", "x"])
def test_invalid_cards_are_rejected(card: str, tmp_path: Path) -> None:
    tensors, metadata = unpack_tensors(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(pack_tensors(tensors, {**metadata, "card": card}))
    for read in (summary, read_policy):
        with pytest.raises(CheckpointError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_invalid_sizes_are_rejected_in_one_line(tmp_path: Path) -> None:
    tensors, metadata = unpack_tensors(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(pack_tensors(tensors, {**metadata, "sizes": '{"hidden": -1}'}))
    with pytest.raises(CheckpointError, match=r"sizes.hidden: must be at least 1 \(got -1\)"):
        read_policy(path)
    path.write_bytes(pack_tensors({"a": torch.zeros(1)}, {"format": "x"}))
    with pytest.raises(CheckpointError, match="not a policy file of version 1"):
        read_policy(path)


def test_a_device_file_is_not_a_weights_file() -> None:
    with pytest.raises(CheckpointError, match="is a device"):
        read_policy("/dev/zero")


def test_wrong_sizes_do_not_allocate_memory(tmp_path: Path) -> None:
    """A network of these sizes would take 34 GB."""
    tensors, metadata = unpack_tensors(weights(), "file")
    path = tmp_path / "file.safetensors"
    path.write_bytes(pack_tensors(tensors, {**metadata, "sizes": '{"hidden": 8192, "hops": 64}'}))
    with pytest.raises(CheckpointError, match="size mismatch"):
        read_policy(path)
