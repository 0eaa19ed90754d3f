"""Mutations of .safetensors files; those of the content update the hash."""

import json
import random
import struct
from collections.abc import Callable

from benchmarks.hardening.mutation import json_values
from benchmarks.hardening.mutation.npz_files import NUMBERS, Arrays
from benchmarks.hardening.mutation.text_files import BYTE_FAULTS, Fault


def _hashed(change: Callable[[Arrays, dict[str, str], random.Random], None]) -> Fault:
    """Return a mutation that changes the content of a weights file and updates its hash."""

    def fault(data: bytes, rng: random.Random) -> bytes:
        from streamplace.policy.weights import packed, unpacked  # noqa: PLC0415 - torch is heavy

        try:
            tensors, metadata = unpacked(data, "file")
            change(tensors, metadata, rng)
            return packed(tensors, metadata)
        except Exception:
            return data

    return fault


def _metadata(tensors: Arrays, metadata: dict[str, str], rng: random.Random) -> None:
    key = rng.choice(sorted(metadata))
    try:
        metadata[key] = json_values.json_text(json_values.mutated(json.loads(metadata[key]), rng))
    except (ValueError, RecursionError):
        metadata[key] = rng.choice(("", "1", "2", "x", "null", "encoder-decoder"))
    if rng.random() < 0.1:
        del metadata[key]


def _tensors(tensors: Arrays, metadata: dict[str, str], rng: random.Random) -> None:
    name = rng.choice(sorted(tensors))
    one = tensors[name]
    import torch  # noqa: PLC0415 - heavy

    changes = (
        lambda: one[None],
        lambda: one[:0],
        lambda: one.to(rng.choice((torch.int8, torch.float16, torch.float64, torch.bool))),
        lambda: torch.full_like(one, rng.choice((0, 1, 2, -1))),
        lambda: torch.full(one.shape, rng.choice(NUMBERS)),
        lambda: torch.cat([one, one]),
    )
    tensors[name] = rng.choice(changes)()


def _tensor_names(tensors: Arrays, metadata: dict[str, str], rng: random.Random) -> None:
    one, other = rng.choice(sorted(tensors)), rng.choice(sorted(tensors))
    rng.choice(
        (
            lambda: tensors.pop(one),
            lambda: tensors.update({one + "x": tensors[one]}),
            lambda: tensors.update({"optimiser.exp_avg.nobody": tensors[one]}),
            lambda: tensors.update({one: tensors[other], other: tensors[one]}),
        )
    )()


def _length(data: bytes, rng: random.Random) -> bytes:
    """Write a false length before the header."""
    lengths = (0, 1, 7, len(data), 2**31, 2**63, 2**64 - 1, 100_000_001, len(data) - 8)
    return struct.pack("<Q", rng.choice(lengths)) + data[8:]


def _header(data: bytes, rng: random.Random) -> bytes:
    """Change the header, which is JSON."""
    length = int.from_bytes(data[:8], "little")
    try:
        value = json.loads(data[8 : 8 + length])
        header = json_values.json_text(json_values.mutated(value, rng)).encode()
    except (ValueError, RecursionError):  # broken by an earlier mutation
        return data
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


TENSOR_FAULTS: tuple[Fault, ...] = (
    *BYTE_FAULTS,
    *(
        _hashed(_metadata),
        _hashed(_metadata),
        _hashed(_metadata),
        _hashed(_tensors),
        _hashed(_tensors),
    ),
    *(_hashed(_tensor_names), _length, _header, _header),
)
"""Mutations of .safetensors files."""
