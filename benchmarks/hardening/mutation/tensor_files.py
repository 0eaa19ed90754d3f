"""Mutations of .safetensors files; those of the content update the hash."""

import json
import random
import struct
from collections.abc import Callable

from benchmarks.hardening.mutation import json_values
from benchmarks.hardening.mutation.npz_files import NUMBERS, Arrays
from benchmarks.hardening.mutation.text_files import BYTE_FAULTS, Fault


def _signed(change: Callable[[Arrays, dict[str, str], random.Random], None]) -> Fault:
    """Return a mutation that changes the content of a weights file and updates its hash."""

    def fault(data: bytes, chance: random.Random) -> bytes:
        from streamplace.policy.signed_tensors import packed, unpacked  # noqa: PLC0415 - torch is heavy

        try:
            tensors, words = unpacked(data, "file")
            change(tensors, words, chance)
            return packed(tensors, words)
        except Exception:
            return data

    return fault


def _words(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    key = chance.choice(sorted(words))
    try:
        words[key] = json_values.json_text(json_values.mutated(json.loads(words[key]), chance))
    except (ValueError, RecursionError):
        words[key] = chance.choice(("", "1", "2", "x", "null", "encoder-decoder"))
    if chance.random() < 0.1:
        del words[key]


def _tensors(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    name = chance.choice(sorted(tensors))
    one = tensors[name]
    import torch  # noqa: PLC0415 - heavy

    changes = (
        lambda: one[None],
        lambda: one[:0],
        lambda: one.to(chance.choice((torch.int8, torch.float16, torch.float64, torch.bool))),
        lambda: torch.full_like(one, chance.choice((0, 1, 2, -1))),
        lambda: torch.full(one.shape, chance.choice(NUMBERS)),
        lambda: torch.cat([one, one]),
    )
    tensors[name] = chance.choice(changes)()


def _tensor_names(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    one, other = chance.choice(sorted(tensors)), chance.choice(sorted(tensors))
    chance.choice(
        (
            lambda: tensors.pop(one),
            lambda: tensors.update({one + "x": tensors[one]}),
            lambda: tensors.update({"optimiser.exp_avg.nobody": tensors[one]}),
            lambda: tensors.update({one: tensors[other], other: tensors[one]}),
        )
    )()


def _length(data: bytes, chance: random.Random) -> bytes:
    """Write a false length before the header."""
    lengths = (0, 1, 7, len(data), 2**31, 2**63, 2**64 - 1, 100_000_001, len(data) - 8)
    return struct.pack("<Q", chance.choice(lengths)) + data[8:]


def _own_header(data: bytes, chance: random.Random) -> bytes:
    """Change the header, which is JSON."""
    length = int.from_bytes(data[:8], "little")
    try:
        value = json.loads(data[8 : 8 + length])
        header = json_values.json_text(json_values.mutated(value, chance)).encode()
    except (ValueError, RecursionError):  # broken by an earlier mutation
        return data
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


TENSOR_FAULTS: tuple[Fault, ...] = (
    *BYTE_FAULTS,
    *(_signed(_words), _signed(_words), _signed(_words), _signed(_tensors), _signed(_tensors)),
    *(_signed(_tensor_names), _length, _own_header, _own_header),
)
"""Mutations of .safetensors files."""
