"""The bytes of files of weights."""

import torch

from streamplace.policy.signed_tensors import packed, unpacked

TENSORS = {"b": torch.ones(3), "a": torch.zeros(2, 2)}
WORDS = {"kind": "x", "card": '{"ä": "\\n"}', "format": "f", "sizes": "{}", "version": "1"}


def test_the_same_weights_are_the_same_bytes() -> None:
    """safetensors orders its metadata differently each time."""
    assert len({packed(TENSORS, WORDS) for _ in range(20)}) == 1


def test_what_is_packed_is_unpacked() -> None:
    tensors, words = unpacked(packed(TENSORS, WORDS), "x")
    assert words == WORDS
    assert tensors.keys() == TENSORS.keys()
    assert all((tensors[name] == x).all() for name, x in TENSORS.items())
    assert int.from_bytes(packed(TENSORS, WORDS)[:8], "little") % 8 == 0
