"""The bytes of signed safetensors files."""

import torch

from streamplace.policy.hashed_tensors import packed, unpacked

TENSORS = {"b": torch.ones(3), "a": torch.zeros(2, 2)}
METADATA = {"kind": "x", "card": '{"ä": "\\n"}', "format": "f", "sizes": "{}", "version": "1"}


def test_the_same_tensors_give_the_same_bytes() -> None:
    """The safetensors library writes metadata in random order."""
    assert len({packed(TENSORS, METADATA) for _ in range(20)}) == 1


def test_unpacked_reverses_packed() -> None:
    tensors, metadata = unpacked(packed(TENSORS, METADATA), "x")
    assert metadata == METADATA
    assert tensors.keys() == TENSORS.keys()
    assert all((tensors[name] == x).all() for name, x in TENSORS.items())
    assert int.from_bytes(packed(TENSORS, METADATA)[:8], "little") % 8 == 0
